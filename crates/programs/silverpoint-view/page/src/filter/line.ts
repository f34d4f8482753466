// The filter as one line, as `silverpoint cat` takes it: `-l warn -c net -w 'id=7'`, or an expression alone. Clicks on facets
// and values change it through here, so that the box always shows what holds.

const LONG: Record<string, string> = { "--level": "-l", "--category": "-c", "--thread": "-t", "--process": "-p", "--where": "-w" };

export interface Option {
  name: string;
  value: string;
}

/** Options of a line; a bare expression is the option `-w`. */
export function parse(line: string): Option[] {
  const text = line.trim();
  if (!text) return [];
  if (!text.startsWith("-")) return [{ name: "-w", value: text }];
  const options: Option[] = [];
  const words = split(text);
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    const equals = word.startsWith("--") ? word.indexOf("=") : -1;
    const name = equals < 0 ? word : word.slice(0, equals);
    const value = equals < 0 ? (words[++at] ?? "") : word.slice(equals + 1);
    options.push({ name: LONG[name] ?? name, value });
  }
  return options;
}

export function format(options: readonly Option[]): string {
  const only = options.length === 1 ? options[0]! : undefined;
  if (only?.name === "-w" && !only.value.startsWith("-")) return only.value;
  return options.map(({ name, value }) => `${name} ${quote(value)}`).join(" ");
}

function split(text: string): string[] {
  const words: string[] = [];
  let open: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (/\s/.test(sign)) {
      if (open !== undefined) words.push(open);
      open = undefined;
      continue;
    }
    open ??= "";
    if (sign === "\\") open += text[++at] ?? "";
    else if (sign === "'" || sign === '"') {
      for (at++; at < text.length && text[at] !== sign; at++) {
        if (text[at] === "\\" && sign === '"') at++;
        open += text[at] ?? "";
      }
    } else open += sign;
  }
  if (open !== undefined) words.push(open);
  return words;
}

function quote(value: string): string {
  if (/^[^\s'"\\]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

export function has(line: string, name: string, value: string): boolean {
  return parse(line).some((option) => option.name === name && option.value === value);
}

/** Adds an option, or takes it away if it is there. A level replaces the level. */
export function toggle(line: string, name: string, value: string): string {
  const options = parse(line);
  const rest = options.filter((option) => option.name !== name || (name !== "-l" && option.value !== value));
  const was = options.some((option) => option.name === name && option.value === value);
  return format(was ? rest : [{ name, value }, ...rest]);
}

/** Adds a condition on an argument; it and those before must hold. */
export function and(line: string, path: string, value: unknown): string {
  const text = typeof value === "string" ? `"${value.replace(/["\\]/g, "\\$&")}"` : String(value);
  const condition = `${path}=${text}`;
  const options = parse(line);
  const where = options.find((option) => option.name === "-w");
  if (!where) options.push({ name: "-w", value: condition });
  else if (!where.value.includes(condition)) where.value = / or |\|\|/.test(where.value) ? `(${where.value}) and ${condition}` : `${where.value} and ${condition}`;
  return format(options);
}
