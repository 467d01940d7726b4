// SPDX-License-Identifier: GPL-2.0
// Filters and search of findings.

const cards = $$("#cards .finding");
const texts = new Map(); // of cards, once they are searched
const chosen = { severity: new Set(), kind: "", module: "", words: [] };

function modulesOf(card) {
	return card.dataset.modules.split("\t").filter((name) => name !== "");
}

function textOf(card) {
	if (!texts.has(card))
		texts.set(card, card.textContent.toLowerCase());
	return texts.get(card);
}

function isWanted(card) {
	return (chosen.severity.size === 0 || chosen.severity.has(card.dataset.severity)) &&
		(chosen.kind === "" || card.dataset.kind === chosen.kind) &&
		(chosen.module === "" || modulesOf(card).includes(chosen.module)) &&
		chosen.words.every((word) => textOf(card).includes(word));
}

function isFiltered() {
	return chosen.severity.size > 0 || chosen.kind !== "" || chosen.module !== "" ||
		chosen.words.length > 0;
}

const filterResult = make("output");
const nothingFits = make("p", { className: "words", hidden: true },
	"No finding fits these filters. ");

function applyFilters() {
	let shown = 0;
	for (const card of cards) {
		card.hidden = !isWanted(card);
		shown += card.hidden ? 0 : 1;
	}
	for (const group of $$("#cards .more")) {
		group.hidden = $$(".finding", group).every((card) => card.hidden);
		// What was looked for has to be seen.
		if (isFiltered() && !group.hidden)
			group.open = true;
	}
	filterResult.value = isFiltered() ? `${shown} of ${cards.length}` : `${cards.length} in all`;
	nothingFits.hidden = shown > 0;
}

// How many cards have each value, the most frequent first.
function countValues(valuesOf) {
	const counts = new Map();
	for (const card of cards)
		for (const value of new Set(valuesOf(card)))
			counts.set(value, (counts.get(value) || 0) + 1);
	return Array.from(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function chooser(label, name, counts) {
	const select = make("select", { id: "filter-" + name });
	select.append(make("option", { value: "", textContent: "all" }));
	for (const [value, n] of counts)
		select.append(make("option", { value, textContent: `${value} (${n})` }));
	select.addEventListener("change", () => {
		chosen[name] = select.value;
		applyFilters();
	});
	return make("label", {}, label, select);
}

function severityBoxes(counts) {
	return ["error", "warning", "note"].filter((name) => counts.has(name)).map((name) => {
		const box = make("input", { type: "checkbox", id: "severity-" + name });
		box.addEventListener("change", () => {
			if (box.checked)
				chosen.severity.add(name);
			else
				chosen.severity.delete(name);
			applyFilters();
		});
		return make("label", {}, box, `${name} (${counts.get(name)})`);
	});
}

const searchBox = make("input", { type: "search", id: "search", placeholder: "search findings ( / )" });
searchBox.setAttribute("aria-label", "search findings");

function clearFilters() {
	chosen.severity.clear();
	chosen.kind = chosen.module = searchBox.value = "";
	chosen.words = [];
	for (const box of $$("#tools input[type=checkbox]"))
		box.checked = false;
	for (const select of $$("#tools select"))
		select.value = "";
	applyFilters();
}

function makeFilters() {
	searchBox.addEventListener("input", () => {
		chosen.words = searchBox.value.toLowerCase().split(/\s+/).filter((word) => word);
		applyFilters();
	});
	const all = make("button", { type: "button", textContent: "show all" });
	all.addEventListener("click", clearFilters);
	const help = make("button", { type: "button", id: "help-button", textContent: "keys ( ? )" });
	help.addEventListener("click", showHelp);
	const tools = make("div", { className: "tools", id: "tools" }, searchBox,
		...severityBoxes(new Map(countValues((card) => [card.dataset.severity]))),
		chooser("kind", "kind", countValues((card) => [card.dataset.kind])),
		chooser("module", "module", countValues(modulesOf)), all, help, filterResult);
	$("#cards").before(tools, nothingFits);
	applyFilters();
}

if (cards.length > 0)
	makeFilters();
