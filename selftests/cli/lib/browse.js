// SPDX-License-Identifier: GPL-2.0
// browse.js FOLDER: opens the HTML reports in FOLDER in a headless Chromium and prints a result
// line for each thing that is tested. Leaves pictures beside them. NODE_PATH has playwright-core,
// CHROMIUM the program.
"use strict";

const { chromium } = require("playwright-core");
const fs = require("fs");
const path = require("path");

const folder = path.resolve(process.argv[2]);
const kOpenSeconds = 2; // wanted; ten times that fails the test: machines differ
let failed = "";

function check(what, right) {
	if (!right && failed === "")
		failed = what;
}

// One test: a fresh page with the report. Nothing may be fetched, refused or complained of; where
// it refuses, by the policy alone.
async function test(browser, name, report, { refuses = false, ...options }, body) {
	failed = "";
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
	const page = await context.newPage();
	const url = "file://" + path.join(folder, report + ".html");
	// What the policy refuses is asked for as well, and fails.
	page.on(refuses ? "requestfinished" : "request", (request) =>
		check("request of " + request.url(), request.url().startsWith(url)));
	page.on("console", (line) => {
		const bad = ["error", "warning"].includes(line.type());
		check("console: " + line.text(), !bad || (refuses && line.text().includes("Content Security Policy")));
	});
	page.on("pageerror", (error) => check("error: " + error, false));
	page.on("dialog", (dialog) => {
		check("a dialog", false);
		dialog.dismiss();
	});
	if (options.javaScriptEnabled !== false)
		await page.addInitScript(() => {
			window.refused = [];
			document.addEventListener("securitypolicyviolation", (event) =>
				window.refused.push(`${event.violatedDirective} ${event.blockedURI}`));
		});
	const start = Date.now();
	await page.goto(url);
	const seconds = (Date.now() - start) / 1000;
	try {
		await body(page, seconds);
		if (options.javaScriptEnabled !== false) {
			const refused = await page.evaluate(() => window.refused);
			check("refused by the policy: " + refused.join(", "), (refused.length > 0) === refuses);
		}
	} catch (error) {
		check(String(error).split("\n")[0], false);
	}
	console.log(failed === "" ? `ok ${name}` : `not ok ${name} - ${failed}`);
	await context.close();
}

const shown = (page) => page.locator("#cards .finding:visible").count();
const marked = (page) => page.evaluate(() => cards.filter(isShown).indexOf(atCard));

async function views(page) {
	for (const id of ["findings", "graph", "rules", "stat", "run"]) {
		await page.click(`nav a[href="#${id}"]`);
		// The page follows its address in an event of its own.
		await page.locator("#" + id).waitFor();
		const visible = await page.locator(".view:visible").evaluateAll((all) => all.map((view) => view.id));
		check(`view ${id} alone, not ${visible}`, visible.join() === id);
	}
	for (const [key, id] of [["1", "findings"], ["4", "stat"]]) {
		await page.keyboard.press(key);
		await page.locator("#" + id).waitFor();
	}
}

async function openGraph(page) {
	await page.keyboard.press("2");
	await page.locator("#graph-note").waitFor();
}

async function keyboard(page) {
	const all = await shown(page);
	check("several findings", all > 2);
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	check("j twice", await marked(page) === 1);
	await page.keyboard.press("k");
	check("k", await marked(page) === 0);
	await page.keyboard.press("k");
	check("k at the first", await marked(page) === 0);
	const body = page.locator("#cards .finding.at details.body");
	const before = await body.evaluate((details) => details.open);
	await page.keyboard.press("Enter");
	check("Enter", await body.evaluate((details) => details.open) !== before);
	await page.keyboard.press("e");
	check("e", await page.locator("details.body[open]").count() === all);
	await page.keyboard.press("c");
	check("c", await page.locator("details.body[open]").count() === 0);
	await page.keyboard.press("?");
	check("? shows the keys", await page.locator("#help").isVisible());
	await page.keyboard.press("j");
	check("no key works below them", await marked(page) === 0);
	await page.keyboard.press("Escape");
	check("Escape closes them", !await page.locator("#help").isVisible());
	await page.keyboard.press("/");
	check("/", await page.evaluate(() => document.activeElement.id) === "search");
	await page.keyboard.type("jk freed");
	check("letters are typed", await page.inputValue("#search") === "jk freed");
}

async function filters(page) {
	const all = await shown(page);
	await page.check("#severity-warning");
	const warnings = await shown(page);
	check("warnings alone", warnings > 0 && warnings < all &&
		await page.locator("#cards .finding:visible:not(.warning)").count() === 0);
	await page.check("#severity-error");
	check("both severities", await shown(page) > warnings);
	await page.click("#tools button:has-text('show all')");
	check("show all", await shown(page) === all);
	await page.selectOption("#filter-kind", "held-lock-freed");
	check("a kind", await shown(page) === 1);
	await page.selectOption("#filter-kind", "");
	await page.selectOption("#filter-module", "foo");
	const inModule = await shown(page);
	check("a module", inModule > 0 && inModule < all);
	await page.fill("#search", "no such words");
	check("nothing found is said", await shown(page) === 0 &&
		await page.getByText("No finding fits these filters.").isVisible());
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	check("Escape twice", await shown(page) === all);
	await page.fill("#search", "DEV_FREE freed");
	check("words in any order and case", await shown(page) === 1);
}

// Coordinates of an element of the picture.
function placeOf(page, selector) {
	return page.evaluate((wanted) => {
		const element = picture.elements(wanted)[0];
		const at = element.isNode() ? element.renderedPosition() : element.renderedMidpoint();
		const box = canvas.getBoundingClientRect();
		return { x: box.x + at.x, y: box.y + at.y };
	}, selector);
}

async function graphView(page) {
	await openGraph(page);
	const drawn = await page.evaluate(() => canDraw);
	const panel = page.locator("#panel");
	if (!drawn) {
		check("its absence is said", await page.locator("#no-picture").isVisible());
		await panel.getByRole("button", { name: "foo_lock" }).first().click();
	} else {
		check("two locks", await page.evaluate(() => picture.nodes().length) === 2);
		check("both orders are marked", await page.evaluate(() => picture.edges("[?bad]").length) === 2);
		const edge = await placeOf(page, "edge");
		await page.mouse.click(edge.x, edge.y);
	}
	check("where an order was seen", await panel.getByText("held since").first().isVisible());
	if (drawn) {
		const node = await placeOf(page, "node");
		await page.mouse.click(node.x, node.y);
		await panel.getByText("zoom to its neighbourhood").click();
		check("its neighbourhood", await page.evaluate(() => centre !== null));
		await page.locator("#show-cycles").click();
	}
	await page.keyboard.press("/");
	await page.keyboard.type("foo");
	check("a lock is found", await panel.getByRole("button", { name: "foo_lock" }).isVisible());
	await page.locator("#graph td a").first().click();
	check("from an order to its finding", await page.locator(".finding.at").isVisible());
}

// What `lockscope graph` writes: opened at the graph, with what was asked for.
async function part(page) {
	const visible = await page.locator(".view:visible").evaluateAll((all) => all.map((view) => view.id));
	check(`the graph first, not ${visible}`, visible.join() === "graph");
	check("two locks", await page.evaluate(() => graph.nodes.size) === 2);
	check("what it is of", await page.getByText("Lock order around foo*").isVisible());
	if (await page.evaluate(() => canDraw))
		check("both are drawn", await page.evaluate(() => picture.nodes().length) === 2);
	await page.locator("#graph td a").first().click();
	check("from an order to its finding", await page.locator(".finding.at").isVisible());
}

async function alone(page) {
	check("one lock", await page.evaluate(() => graph.nodes.size) === 1);
	check("no order", await page.evaluate(() => graph.edges.length) === 0);
	check("its name", (await page.evaluate(() => [...graph.nodes.values()][0].name)).startsWith("foo"));
}

async function large(page, seconds) {
	console.log(`# opened in ${seconds} s, ${kOpenSeconds} s wanted`);
	check(`opened in ${seconds} s`, seconds < 10 * kOpenSeconds);
	const start = Date.now();
	await openGraph(page);
	console.log(`# graph of ${await page.evaluate(() => graph.edges.length)} orders in ` +
		`${(Date.now() - start) / 1000} s`);
	check("all orders", await page.evaluate(() => graph.edges.length + graph.leftOut) >= 10000);
	check("none left out", await page.evaluate(() => graph.leftOut) === 0);
	await page.fill("#find-lock", "lock_777");
	await page.keyboard.press("Enter");
	await page.selectOption("#depth", "2");
	check("its neighbourhood", await page.evaluate(() => centre.name) === "lock_777");
	check("is not all", /^\d\d? of \d{4} lock classes/.test(await page.locator("#graph-note").textContent()));
}

// What names would have made of the page.
async function strangers(page) {
	await openGraph(page);
	await page.evaluate(() => graph.edges.forEach(showEdge));
	const found = await page.evaluate(() => ({
		scripts: document.scripts.length - (canDraw ? 3 : 2), images: document.images.length,
		handlers: document.querySelectorAll("[onclick],[onerror]").length,
		bold: Array.from(document.querySelectorAll("b")).filter((b) => !b.closest(".stack")).length,
		flags: window.flag === undefined ? 0 : 1 }));
	for (const [what, n] of Object.entries(found))
		check(`${n} ${what} too many`, n === 0);
}

async function hostile(page) {
	check("a name in full", await page.getByText("</script><b onclick=\"x\">").first().isVisible());
	await strangers(page);
}

async function scripts(page) {
	check("a name in full", await page.getByText("</script><script>window.flag=1").first().isVisible());
	await strangers(page);
}

// Were an element to get in all the same.
async function strange(page) {
	await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.flag = 1";
		document.body.append(script);
		document.body.insertAdjacentHTML("beforeend", "<img src='https://example.org/x.png' onerror='window.flag = 2'>");
	});
	await page.waitForTimeout(200);
	check("a strange script ran", await page.evaluate(() => window.flag) === undefined);
}

async function incomplete(page) {
	check("it is said first", await page.locator("header [role=alert]").isVisible());
	check("with the losses", (await page.locator("header [role=alert]").textContent()).includes("lost_records 10"));
}

async function withoutScripts(page) {
	for (const id of ["findings", "graph", "rules", "stat", "run"])
		check(`section ${id}`, await page.locator("#" + id).isVisible());
	check("sides", await page.getByText("Side 1 holds").first().isVisible());
	check("no tools that would not work", await page.locator("input, button").count() === 0);
}

async function printed(page) {
	await page.emulateMedia({ media: "print" });
	check("no menu", !await page.locator("nav").isVisible());
	for (const id of ["findings", "rules", "run"])
		check(`section ${id}`, await page.locator("#" + id).isVisible());
}

async function sorted(page) {
	await page.keyboard.press("4");
	await page.locator("#stat").waitFor();
	await page.locator("#stat th button").first().click();
	const names = await page.locator("#stat tbody tr code:first-child").allTextContents();
	check("sorted by name", names.length > 0 && await page.locator("#stat th").first().getAttribute("aria-sort") === "ascending");
}

async function layouts(browser) {
	for (const width of [390, 1280])
		for (const colorScheme of ["light", "dark"])
			await test(browser, `${width} pixels, ${colorScheme}`, "kinds",
				{ viewport: { width, height: 900 }, colorScheme }, async (page) => {
					for (const id of ["findings", "graph", "rules", "stat", "run"]) {
						await page.click(`nav a[href="#${id}"]`);
						await page.locator("#" + id).waitFor();
						const wide = await page.evaluate(() => document.documentElement.scrollWidth);
						check(`${id} is ${wide} wide`, wide <= width);
						await page.screenshot({ path: path.join(folder, `${id}-${width}-${colorScheme}.png`) });
					}
					const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
					check("background " + back, (back === "rgb(255, 255, 255)") === (colorScheme === "light"));
				});
}

async function main() {
	// Root has no use for Chromium's sandbox; the pages are ours.
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
	await test(browser, "views", "race", {}, views);
	await test(browser, "keyboard", "kinds", {}, keyboard);
	await test(browser, "filters and search", "kinds", {}, filters);
	await test(browser, "graph", "usual", {}, graphView);
	// As it is built without npm.
	const whole = fs.readFileSync(path.join(folder, "usual.html"), "utf8");
	fs.writeFileSync(path.join(folder, "plain.html"), whole.replace(/<script>\/\*\*[^]*?<\/script>/, ""));
	await test(browser, "graph without its library", "plain", {}, async (page) => {
		check("no library", await page.evaluate(() => !canDraw));
		await graphView(page);
	});
	await test(browser, "part of the graph", "part", {}, part);
	await test(browser, "a lock alone", "alone", {}, alone);
	await test(browser, "part of the graph, hostile names", "part-hostile", {}, async (page) => {
		check("locks", await page.evaluate(() => graph.nodes.size) > 0);
		check("no script of a name ran", await page.evaluate(() => window.flag) === undefined);
	});
	await test(browser, "10,000 orders", "edges", {}, large);
	await test(browser, "hostile names", "hostile", {}, hostile);
	await test(browser, "names that are scripts", "script", {}, scripts);
	await test(browser, "the policy", "usual", { refuses: true }, strange);
	await test(browser, "an incomplete run", "lossy", {}, incomplete);
	await test(browser, "without JavaScript", "usual", { javaScriptEnabled: false }, withoutScripts);
	await test(browser, "printed", "usual", {}, printed);
	await test(browser, "a sorted table", "usual", {}, sorted);
	await layouts(browser);
	await browser.close();
}

main().catch((error) => {
	console.log(`not ok browser - ${String(error).split("\n")[0]}`);
	process.exit(0);
});
