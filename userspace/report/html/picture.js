// SPDX-License-Identifier: GPL-2.0
// The picture, by cytoscape and its layout dagre where the report was built with them.

let picture = null;
const canvas = make("div", { className: "canvas", id: "canvas" });
const canDraw = typeof cytoscape !== "undefined" && typeof cytoscapeDagre !== "undefined";

function pictureParts() {
	const board = make("div", { className: canDraw ? "board" : "board plain" });
	if (!canDraw) {
		board.append(panel);
		return [make("p", { className: "warn", id: "no-picture", textContent:
			"This report was built without the library that draws the graph (no npm at build " +
			"time): lists stand for the picture. lockscope graph draws one with graphviz." }), board];
	}
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", "lock-order graph; the lists beside it have the same");
	board.append(canvas, panel);
	return [board, make("p", { className: "key" }, make("span", { textContent:
		"Yellow: spinning. Blue: sleeping. Double border: global. Colour of the border: module. " +
		"Red: part of a finding." }))];
}

// Of the page, light or dark.
function colours() {
	const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	return { ink: of("--ink"), line: of("--dim"), bad: of("--error"), link: of("--link"),
		spins: dark ? "#4a3d14" : "#fff3d6", sleeps: dark ? "#1c3450" : "#e3eefb", dark };
}

// The same for a module each time.
function moduleColour(module, dark) {
	if (module === "vmlinux")
		return dark ? "#98a3af" : "#57606a";
	let hash = 0;
	for (const letter of module)
		hash = (hash * 31 + letter.codePointAt(0)) % 360;
	return `hsl(${hash}, 55%, ${dark ? 65 : 40}%)`;
}

function pictureStyle(c) {
	return [
		{ selector: "node", style: { shape: "round-rectangle", label: "data(label)", color: c.ink,
			"font-size": 11, "text-wrap": "wrap", "text-max-width": 190, "text-valign": "center",
			width: 180, height: 50, "border-width": 2,
			"background-color": (node) => node.data("spins") ? c.spins : c.sleeps,
			"border-style": (node) => node.data("global") ? "double" : "solid",
			"border-color": (node) => moduleColour(node.data("module"), c.dark) } },
		{ selector: "node[?global]", style: { "border-width": 5 } },
		{ selector: "node[?marked], node:selected", style: { "border-width": 7 } },
		{ selector: "edge", style: { "curve-style": "bezier", "target-arrow-shape": "triangle",
			width: 1.3, "line-color": c.line, "target-arrow-color": c.line } },
		{ selector: "edge.far", style: { "curve-style": "unbundled-bezier",
			"control-point-distances": 50, "control-point-weights": 0.5 } },
		{ selector: "edge[?bad]", style: { width: 2.6, "line-color": c.bad, "target-arrow-color": c.bad } },
		{ selector: "edge:selected", style: { width: 4, "line-color": c.link, "target-arrow-color": c.link } },
	];
}

// Lines of at most so many letters, broken after what parts words.
function linesOf(name, letters) {
	const lines = [""];
	for (const part of name.match(/[^\s_.>+@(]*[\s_.>+@(]*/g)) {
		const last = lines[lines.length - 1];
		if (last !== "" && (last + part).trimEnd().length > letters)
			lines.push(part);
		else
			lines[lines.length - 1] = last + part;
	}
	return lines.map((line) => line.trim());
}

// Names are cut where they would not fit; the panel has them whole.
function pictureLabel(node) {
	const lines = linesOf(node.brief, 26).map((line) =>
		line.length > 28 ? line.slice(0, 27) + "\u2026" : line);
	const most = node.module === "vmlinux" ? 3 : 2;
	if (lines.length > most)
		lines.splice(most, Infinity, "\u2026");
	return [...lines, ...(node.module === "vmlinux" ? [] : [node.module.slice(0, 26)])].join("\n");
}

function drawPicture(nodes, edges, marked) {
	if (!canDraw)
		return;
	if (picture)
		picture.destroy();
	picture = cytoscape({
		container: canvas, style: pictureStyle(colours()), maxZoom: 2, minZoom: 0.05,
		elements: [
			...nodes.map((node) => ({ data: { id: node.id, label: pictureLabel(node), spins: node.spins,
				global: node.global, module: node.module, marked: node === marked } })),
			...edges.map((edge) => ({ data: { id: edge.id, source: edge.from.id, target: edge.to.id,
				bad: isBad(edge) } }))],
		layout: { name: "dagre", rankDir: "LR", nodeSep: 14, rankSep: 60, padding: 16 },
	});
	inRows();
	bendFar();
	showReadable(marked);
	picture.on("tap", "node", (event) => showNode(graph.nodes.get(Number(event.target.id()))));
	picture.on("dbltap", "node", (event) => zoomTo(graph.nodes.get(Number(event.target.id()))));
	picture.on("tap", "edge", (event) => showEdge(graph.edges[Number(event.target.id().slice(1))]));
}

const kLeastZoom = 0.6, kUsualZoom = 0.8;

// Parts of the graph without an edge between them stand side by side, as far as the width has room;
// the layout puts each below the last one.
function inRows() {
	const gap = 40, width = picture.width() / kUsualZoom;
	let x = 0, y = 0, height = 0;
	for (const part of picture.elements().components()) {
		const box = part.boundingBox();
		if (x > 0 && x + box.w > width) {
			x = 0;
			y += height + gap / 2;
			height = 0;
		}
		part.nodes().shift({ x: x - box.x1, y: y - box.y1 });
		x += box.w + gap;
		height = Math.max(height, box.h);
	}
	picture.fit(undefined, 16);
}

// The layout has left room for them above what they pass.
function bendFar() {
	picture.edges().filter((edge) =>
		Math.abs(edge.source().position("x") - edge.target().position("x")) > 300).addClass("far");
}

// All of it where names can be read then, else its beginning, or what is around the marked one.
function showReadable(marked) {
	const box = picture.elements().boundingBox();
	if (picture.zoom() > 1)
		picture.zoom(1);
	else if (picture.zoom() < kLeastZoom)
		picture.zoom(kUsualZoom);
	const zoom = picture.zoom();
	picture.center(marked ? picture.getElementById(marked.id) : undefined);
	if (!marked && box.h * zoom > picture.height())
		picture.pan({ x: Math.max(picture.pan().x, 16 - box.x1 * zoom), y: 16 - box.y1 * zoom });
}

function markEdge(edge) {
	if (!picture)
		return;
	picture.elements().unselect();
	picture.getElementById(edge.id).select();
}

if (canDraw) {
	cytoscape.use(cytoscapeDagre);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		if (picture)
			picture.style(pictureStyle(colours()));
	});
}
