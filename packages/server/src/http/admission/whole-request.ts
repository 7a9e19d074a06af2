/**
 * Tells, from the bytes alone, whether they are exactly one ordinary POST and where it goes. It is no parser: whatever is odd, or
 * only possibly read otherwise by somebody in between, is left to node:http (RFC 9112 §11.2, request smuggling).
 */

export interface WholeRequest {
  readonly path: string;
  /** Bytes of the body. */
  readonly length: number;
  /** As it was sent, by anybody. */
  readonly requestId: string | undefined;
}

const END = Buffer.from("\r\n\r\n");
const MAX_BYTES = 4 * 1024;

/** Request line and fields (RFC 9112 §3, §5): tokens, printable values, no folded lines, nothing but CRLF between them. */
const HEAD = /^POST (\/[\w/-]+) HTTP\/1\.1\r\n(?:[\w-]+:[ \t]*(?:[!-~][ -~\t]*)?\r\n)+\r\n$/;
const LENGTH = /\r\ncontent-length: (\d{1,4})\r\n/i;
/** What changes where the body ends, or what an answer is, beside the one length. */
const ODD = /\r\n(?:(?:transfer-encoding|expect|upgrade|trailer|te):|connection:(?! *keep-alive\r))/i;
const REQUEST_ID = /\r\nx-request-id: *([!-~]+)\r\n/i;
const FIRST_LENGTH = /content-length/gi;

/** @returns undefined for anything else */
export function wholeRequest(bytes: Buffer): WholeRequest | undefined {
  if (bytes.length > MAX_BYTES) return undefined;
  const end = bytes.indexOf(END) + END.length;
  if (end < END.length) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const path = HEAD.exec(head)?.[1];
  const length = Number(LENGTH.exec(head)?.[1]);
  if (path === undefined || end + length !== bytes.length || ODD.test(head)) return undefined;
  return head.match(FIRST_LENGTH)?.length === 1
    ? { path, length, requestId: REQUEST_ID.exec(head)?.[1] }
    : undefined;
}

/** A browser's request gets a page. */
export const wantsPage = (bytes: Buffer): boolean => bytes.includes("text/html");
