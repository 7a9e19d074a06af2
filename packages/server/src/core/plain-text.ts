/** Names and descriptions that people read: no control or bidirectional characters, which could deceive. */

export function isPlainText(text: string, min: number, max: number): boolean {
  const length = [...text].length;
  return length >= min && length <= max && text.isWellFormed() && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);
}
