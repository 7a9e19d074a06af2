/**
 * The code of a TypeScript file with the content of comments, strings, templates and regular expressions blanked:
 * every such character becomes a space, so that positions and lines stay what they are in the file. Quotes stay.
 * A rule that searches in here is not misled by words in a comment or in a test's sample.
 */
export function codeText(text: string): string {
  const known = blanked.get(text);
  if (known !== undefined) return known;
  const code = codeTextOf(text);
  blanked.set(text, code);
  return code;
}

/** Several rules search every file, and going through it once takes most of their time. */
const blanked = new Map<string, string>();

function codeTextOf(text: string): string {
  const output: string[] = [];
  // One entry per template that is open: the depth of braces inside its current `${…}`.
  const openTemplates: number[] = [];
  let position = 0;
  while (position < text.length) {
    const next = skipOne(text, position, output, openTemplates);
    position = next;
  }
  return output.join("");
}

function skipOne(text: string, position: number, output: string[], openTemplates: number[]): number {
  const character = text.charAt(position);
  const pair = text.slice(position, position + 2);
  if (pair === "//" || pair === "/*") return blank(text, position, endOfComment(text, position), 0, output);
  if (character === '"' || character === "'")
    return blank(text, position, endOfQuoted(text, position), 1, output);
  if (character === "/" && startsRegularExpression(output)) {
    return blank(text, position, endOfRegularExpression(text, position), 1, output);
  }
  const depth = openTemplates.at(-1);
  const closesPlaceholder = character === "}" && depth === 0;
  if (character === "`" || closesPlaceholder) {
    const end = endOfTemplatePart(text, position);
    const opensPlaceholder = text.charAt(end - 1) === "{";
    if (closesPlaceholder) openTemplates.pop();
    if (opensPlaceholder) openTemplates.push(0);
    return blank(text, position, end, 1, output);
  }
  if (depth !== undefined && character === "{") openTemplates[openTemplates.length - 1] = depth + 1;
  if (depth !== undefined && character === "}") openTemplates[openTemplates.length - 1] = depth - 1;
  output.push(character);
  return position + 1;
}

/** Writes text[start, end) with all but its first and last `edge` characters and its line breaks made spaces. */
function blank(text: string, start: number, end: number, edge: number, output: string[]): number {
  const inside = text.slice(start + edge, end - edge).replace(/[^\n]/g, " ");
  output.push(
    ...text.slice(start, start + edge),
    ...inside,
    ...text.slice(Math.max(end - edge, start + edge), end),
  );
  return end;
}

function endOfComment(text: string, start: number): number {
  const closing = text.charAt(start + 1) === "*" ? "*/" : "\n";
  const at = text.indexOf(closing, start + 2);
  if (at === -1) return text.length;
  return closing === "\n" ? at : at + 2;
}

function endOfQuoted(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === quote || character === "\n") return at + 1;
  }
  return text.length;
}

/** From a template's opening quote, or the brace that ends a placeholder, to its closing quote or its next `${`. */
function endOfTemplatePart(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === "`") return at + 1;
    else if (character === "$" && text.charAt(at + 1) === "{") return at + 2;
  }
  return text.length;
}

function endOfRegularExpression(text: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") at += 1;
    else if (character === "\n") return at;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (character === "/" && !inClass) return at + 1;
  }
  return text.length;
}

/** A slash divides after a value and opens a regular expression after an operator, a bracket or a keyword. */
function startsRegularExpression(output: string[]): boolean {
  const before = output.slice(-40).join("").trimEnd();
  if (/\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield)$/.test(before)) return true;
  return before === "" || /[(,=:[!&|?{};+\-*%<>~^]$/.test(before);
}
