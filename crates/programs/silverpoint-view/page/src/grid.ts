// A table of plain rows that can be sorted by each column.

import { el, fill, type Child } from "./dom.ts";

export interface GridColumn<Row> {
  title: string;
  isNumber?: boolean;
  show(row: Row): Child;
  /** What it is sorted by; without it the column cannot be sorted. */
  key?: (row: Row) => number | string;
}

export function grid<Row>(label: string, columns: readonly GridColumn<NoInfer<Row>>[], rows: readonly Row[], open?: (row: NoInfer<Row>) => void): HTMLElement {
  const body = el("tbody");
  let sorted: { at: number; down: boolean } | undefined;
  const heads = columns.map((column, at) => {
    const head = el("th", { scope: "col", class: column.isNumber ? "number" : "" });
    if (column.key) head.append(el("button", { type: "button", on: { click: () => sort(at) } }, column.title));
    else head.append(column.title);
    return head;
  });
  const sort = (at: number) => {
    const isNumber = columns[at]!.isNumber === true;
    sorted = sorted?.at === at ? { at, down: !sorted.down } : { at, down: isNumber };
    heads.forEach((head, index) => {
      if (index === at) head.setAttribute("aria-sort", sorted!.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    show();
  };
  const show = () => {
    const list = [...rows];
    if (sorted) {
      const key = columns[sorted.at]!.key!;
      const sign = sorted.down ? -1 : 1;
      list.sort((one, two) => {
        const [first, second] = [key(one), key(two)];
        return (first < second ? -1 : first > second ? 1 : 0) * sign;
      });
    }
    fill(
      body,
      list.map((row) => {
        const line = el("tr", {}, columns.map((column) => el("td", { class: column.isNumber ? "number" : "" }, column.show(row))));
        if (open) {
          line.tabIndex = 0;
          line.classList.add("opens");
          line.addEventListener("click", () => open(row));
          line.addEventListener("keydown", (event) => event.key === "Enter" && open(row));
        }
        return line;
      }),
    );
  };
  show();
  return el("table", { class: "grid", "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body);
}
