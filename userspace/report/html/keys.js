// SPDX-License-Identifier: GPL-2.0
// Keys: one letter, and none while something is typed.

let atCard = null;

// Brings a finding into view and marks it.
function goTo(card) {
	if (!card)
		return;
	if (atCard)
		atCard.classList.remove("at");
	atCard = card;
	card.classList.add("at");
	card.scrollIntoView({ block: "start" });
}

function isShown(card) {
	return !card.hidden && card.getClientRects().length > 0;
}

function step(by) {
	showView("findings");
	const shown = cards.filter(isShown);
	const at = shown.indexOf(atCard);
	const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by;
	goTo(shown[Math.max(0, Math.min(shown.length - 1, next))]);
}

function toggleCard() {
	const body = atCard && $("details.body", atCard);
	if (body)
		body.open = !body.open;
}

function openAll(open) {
	for (const details of $$("#cards details.body, #cards details.more"))
		details.open = open;
}

const keys = [
	["j", "next finding", () => step(1)],
	["k", "previous finding", () => step(-1)],
	["Enter", "open or close it", toggleCard],
	["e", "open all", () => openAll(true)],
	["c", "close all", () => openAll(false)],
	["/", "search", () => focusSearch()],
	["Escape", "leave the search; again: show all", () => clearFilters()],
	...$$("nav a").map((link, i) => [String(i + 1), "view: " + link.textContent,
		() => { location.hash = link.hash; }]),
	["?", "these keys", () => showHelp()],
];

function focusSearch() {
	if (currentView() === "graph") {
		$("#find-lock").focus();
		return;
	}
	showView("findings");
	if (searchBox.isConnected)
		searchBox.focus();
}

const helpTable = make("table", {}, make("tbody", {}, ...keys.map(([key, what]) =>
	make("tr", {}, make("td", {}, make("kbd", { textContent: key })),
		make("td", { textContent: what })))));
const helpClose = make("button", { type: "button", textContent: "close" });
const help = make("dialog", { id: "help" }, make("h3", { textContent: "Keys" }), helpTable, helpClose);
helpClose.addEventListener("click", () => help.close());
document.body.append(help);

function showHelp() {
	if (!help.open)
		help.showModal();
}

function isTyping(element) {
	return element.matches("input:not([type=checkbox]), select, textarea");
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey || help.open)
		return;
	if (isTyping(event.target)) {
		if (event.key === "Escape")
			event.target.blur();
		return;
	}
	const entry = keys.find(([key]) => key === event.key);
	// Enter follows a link and presses a button.
	if (!entry || (event.key === "Enter" && event.target.matches("a, button, summary, input")))
		return;
	event.preventDefault();
	entry[2]();
});
