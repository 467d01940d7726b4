// SPDX-License-Identifier: GPL-2.0
// The lock-order graph: which part of it is shown, and what is known of a lock or an order. Works
// without the library that draws.

const graph = { nodes: new Map(), edges: [], leftOut: 0, loaded: false };
const kMostNodes = 60; // drawn: more cannot be read

function loadGraph() {
	const data = JSON.parse($("#graph-data").textContent);
	const text = (i) => data.strings[i];
	for (const [id, name, brief, kind, module, spins, global] of data.classes)
		graph.nodes.set(id, { id: String(id), name: text(name), brief: text(brief), kind: text(kind),
			module: text(module), spins, global, out: [], in: [] });
	for (const [from, to, kinds, count, witnesses, findings] of data.edges) {
		const edge = { id: "e" + graph.edges.length, from: graph.nodes.get(from),
			to: graph.nodes.get(to), kinds: text(kinds), count, findings,
			witnesses: witnesses.map(([run, by, held, acquired]) =>
				({ run, by: text(by), held: text(held), acquired: text(acquired) })) };
		edge.from.out.push(edge);
		edge.to.in.push(edge);
		graph.edges.push(edge);
	}
	graph.leftOut = data.left_out;
	graph.loaded = true;
}

function isBad(edge) {
	return edge.findings.length > 0;
}

// The nodes around those in start, up to depth edges away, orders of findings first; nodes that
// find no room are counted.
function neighbourhood(start, depth) {
	const nodes = new Set(), leftOut = new Set();
	let level = [];
	const reach = (node) => {
		if (nodes.has(node))
			return;
		if (nodes.size >= kMostNodes) {
			leftOut.add(node);
			return;
		}
		nodes.add(node);
		level.push(node);
	};
	start.forEach(reach);
	for (let i = 0; i < depth; i++) {
		const last = level;
		level = [];
		const beside = last.flatMap((node) => [...node.out, ...node.in]);
		for (const edge of [...beside.filter(isBad), ...beside.filter((e) => !isBad(e))]) {
			reach(edge.from);
			reach(edge.to);
		}
	}
	return { nodes, leftOut: leftOut.size };
}

// Orders within the nodes. Around one lock those between its neighbours are left out, but for
// those of findings.
function edgesWithin(nodes, centre) {
	return Array.from(nodes).flatMap((node) => node.out).filter((edge) => nodes.has(edge.to) &&
		(!centre || isBad(edge) || edge.from === centre || edge.to === centre));
}

const panel = make("div", { className: "panel", id: "panel" });
panel.setAttribute("aria-live", "polite");

function linkTo(label, bad, action) {
	const button = make("button", { type: "button", textContent: label });
	button.classList.toggle("bad", bad);
	button.addEventListener("click", action);
	return make("li", {}, button);
}

function edgeList(title, edges, nameOf) {
	if (edges.length === 0)
		return [make("p", { className: "words", textContent: title + ": none" })];
	const kMost = 200;
	const sorted = [...edges.filter(isBad), ...edges.filter((edge) => !isBad(edge))];
	const list = make("ul", {}, ...sorted.slice(0, kMost).map((edge) =>
		linkTo(nameOf(edge), isBad(edge), () => showEdge(edge))));
	const parts = [make("p", { className: "words", textContent: `${title} (${edges.length}):` }), list];
	if (sorted.length > kMost)
		parts.push(make("p", { className: "words", textContent: `${sorted.length - kMost} more` }));
	return parts;
}

function showNode(node) {
	const around = make("button", { type: "button", textContent: "zoom to its neighbourhood" });
	around.addEventListener("click", () => zoomTo(node));
	panel.replaceChildren(make("h3", { textContent: node.name }),
		make("p", { textContent: `${node.kind}, ${node.global ? "global" : "one per object"}, ` +
			`module ${node.module}` }), around,
		...edgeList("Taken under it", node.out, (edge) => edge.to.name),
		...edgeList("It is taken under", node.in, (edge) => edge.from.name));
}

function showEdge(edge) {
	const witnesses = edge.witnesses.map((seen) => make("li", {},
		make("p", { textContent: `run ${seen.run}: ${seen.by}` }),
		make("p", {}, "held since ", make("code", { textContent: seen.held })),
		make("p", {}, "acquired at ", make("code", { textContent: seen.acquired }))));
	const parts = [
		make("h3", { textContent: `${edge.from.name} \u2192 ${edge.to.name}` }),
		make("p", { textContent: `dependency ${edge.kinds}; seen ${edge.count} times` +
			(edge.count > edge.witnesses.length ? `, the first ${edge.witnesses.length}:` : ":") }),
		make("ul", {}, ...witnesses)];
	if (isBad(edge))
		parts.push(make("p", { textContent: "Part of:" }), make("ul", {}, ...edge.findings.map((id) =>
			make("li", {}, make("a", { href: "#f-" + id, textContent: id })))));
	parts.push(make("ul", {}, linkTo(edge.from.name, false, () => showNode(edge.from)),
		linkTo(edge.to.name, false, () => showNode(edge.to))));
	panel.replaceChildren(...parts);
	markEdge(edge);
}

const graphNote = make("p", { className: "words", id: "graph-note" });
const findLock = make("input", { type: "search", id: "find-lock", placeholder: "find a lock ( / )" });
findLock.setAttribute("aria-label", "find a lock");
const depthChoice = make("select", { id: "depth" },
	...[1, 2, 3].map((n) => make("option", { value: n, textContent: n })));
let centre = null;

function note(nodes, edges, leftOut) {
	const parts = [`${nodes.size} of ${graph.nodes.size} lock classes, ` +
		`${edges.length} of ${graph.edges.length} orders`];
	if (leftOut > 0)
		parts.push(`${leftOut} more lock classes around these left out: choose one to go there`);
	if (graph.leftOut > 0)
		parts.push(`${graph.leftOut} orders are not in this file, for lack of room: ` +
			"lockscope graph has them");
	graphNote.textContent = parts.join("; ") + ".";
}

function draw(nodes, edges, leftOut, marked) {
	note(nodes, edges, leftOut);
	drawPicture(Array.from(nodes), edges, marked);
}

function zoomTo(node) {
	centre = node;
	const depth = Number(depthChoice.value);
	const { nodes, leftOut } = neighbourhood([node], depth);
	draw(nodes, edgesWithin(nodes, depth === 1 ? node : null), leftOut, node);
	showNode(node);
}

// Where there is no finding about orders, the lock with most of them.
function showCycles() {
	centre = null;
	const bad = graph.edges.filter(isBad);
	if (bad.length === 0) {
		const most = Array.from(graph.nodes.values()).sort((a, b) =>
			b.out.length + b.in.length - a.out.length - a.in.length)[0];
		if (most)
			zoomTo(most);
		panel.prepend(make("p", { textContent: "No finding listed here is about the order of " +
			"locks. This is the lock with most of them; the search finds others." }));
		return;
	}
	const { nodes, leftOut } = neighbourhood(bad.flatMap((edge) => [edge.from, edge.to]), 0);
	draw(nodes, edgesWithin(nodes).filter(isBad), leftOut, null);
	panel.replaceChildren(make("p", { textContent: "Orders of findings are red. Choose a lock or an " +
		"order to see where it was observed." }),
		...edgeList("Orders of findings", bad, (edge) => `${edge.from.brief} \u2192 ${edge.to.brief}`));
}

// What was asked for, where the file is of a part of the graph.
function showPart() {
	const { nodes, leftOut } = neighbourhood(Array.from(graph.nodes.values()), 0);
	draw(nodes, edgesWithin(nodes), leftOut, null);
	panel.replaceChildren(make("p", { textContent: "Orders of findings are red. Choose a lock or an " +
		"order to see where it was observed." }),
		...edgeList("Orders", graph.edges, (edge) => `${edge.from.brief} \u2192 ${edge.to.brief}`));
}

function showMatches() {
	const wanted = findLock.value.toLowerCase();
	const found = Array.from(graph.nodes.values()).filter((node) =>
		node.name.toLowerCase().includes(wanted));
	panel.replaceChildren(make("p", { className: "words", textContent: `${found.length} lock classes` }),
		make("ul", {}, ...found.slice(0, 50).map((node) =>
			linkTo(`${node.name} (${node.module})`, node.out.some(isBad), () => zoomTo(node)))));
	return found;
}

function makeGraph() {
	loadGraph();
	const cycles = make("button", { type: "button", id: "show-cycles", textContent: "orders of findings" });
	cycles.addEventListener("click", showCycles);
	findLock.addEventListener("input", showMatches);
	findLock.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && showMatches().length > 0)
			zoomTo(showMatches()[0]);
	});
	depthChoice.addEventListener("change", () => centre && zoomTo(centre));
	$("#picture").append(make("div", { className: "tools" }, findLock,
		make("label", {}, "orders away", depthChoice), cycles), ...pictureParts(), graphNote);
	if (document.body.dataset.view === "graph")
		showPart();
	else if (graph.edges.length > 0)
		showCycles();
	else
		graphNote.textContent = "No lock was taken while another one was held.";
}

viewListeners.push((id) => {
	if (id === "graph" && !graph.loaded)
		makeGraph();
});
