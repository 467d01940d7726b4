// SPDX-License-Identifier: GPL-2.0
// Tables of numbers, sorted by a column. At last the view that was asked for is shown.

function sortBy(table, column, numbers) {
	const body = $("tbody", table);
	const value = (row) => numbers ? Number(row.cells[column].dataset.value)
		: row.cells[column].textContent;
	const rows = Array.from(body.rows).map((row) => [value(row), row]);
	rows.sort((a, b) => numbers ? b[0] - a[0] : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
	body.append(...rows.map((row) => row[1]));
	for (const head of $$("th", table))
		head.removeAttribute("aria-sort");
	$$("th", table)[column].setAttribute("aria-sort", numbers ? "descending" : "ascending");
}

for (const table of $$("table.sortable"))
	$$("th", table).forEach((head, column) => {
		const button = make("button", { type: "button", textContent: head.textContent });
		button.addEventListener("click", () => sortBy(table, column, column > 0));
		head.replaceChildren(button);
	});

followHash();
