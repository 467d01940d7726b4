// SPDX-License-Identifier: GPL-2.0
// speedscope.js PAGE PROFILE PICTURE: opens a profile in speedscope's PAGE, in a headless Chromium,
// as its own program does. Prints what went wrong; then the title, which has the profile's name.
// NODE_PATH has playwright-core, CHROMIUM the program.
"use strict";

const { chromium } = require("playwright-core");
const fs = require("fs");
const path = require("path");

async function main() {
	const [page_path, profile, picture] = process.argv.slice(2).map((name) => path.resolve(name));
	const script = profile + ".js";
	const content = fs.readFileSync(profile).toString("base64");
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(profile))}, "${content}")`);
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
	const page = await (await browser.newContext({ offline: true })).newPage();
	page.on("pageerror", (error) => console.log("error: " + error));
	page.on("dialog", (dialog) => {
		console.log("dialog: " + dialog.message());
		dialog.dismiss();
	});
	await page.goto(`file://${page_path}#localProfilePath=${script}`);
	await page.waitForFunction(() => /locks of kernel/.test(document.title), null, { timeout: 60000 }).catch(() => {});
	await page.waitForTimeout(500);
	console.log(await page.title());
	await page.screenshot({ path: picture });
	await browser.close();
}

main().catch((error) => {
	console.log(String(error).split("\n")[0]);
	process.exit(1);
});
