// SPDX-License-Identifier: GPL-2.0
// The report is whole without any of this: scripts only choose what is shown.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => Array.from(from.querySelectorAll(selector));

// A new element; text is never HTML.
function make(tag, properties = {}, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

const views = $$(".view");
const viewListeners = [];

function showView(id) {
	for (const view of views)
		view.classList.toggle("current", view.id === id);
	for (const link of $$("nav a"))
		if (link.hash === "#" + id)
			link.setAttribute("aria-current", "page");
		else
			link.removeAttribute("aria-current");
	for (const listener of viewListeners)
		listener(id);
}

function currentView() {
	return $(".view.current").id;
}

// "#graph" is a view, "#f-0123456789abcdef" a finding.
function followHash() {
	const target = document.getElementById(location.hash.slice(1));
	const view = target && target.closest(".view");
	showView(view ? view.id : document.body.dataset.view || "findings");
	if (view && target !== view) {
		for (let up = target; up; up = up.parentElement)
			if (up.tagName === "DETAILS")
				up.open = true;
		goTo(target);
	} else if (location.hash) {
		window.scrollTo(0, 0);
	}
}

document.documentElement.classList.add("js");
window.addEventListener("hashchange", followHash);

// Paper has no use for what is closed.
let opened = [];
window.addEventListener("beforeprint", () => {
	opened = $$("#cards details:not([open])");
	for (const details of opened)
		details.open = true;
});
window.addEventListener("afterprint", () => {
	for (const details of opened)
		details.open = false;
});
