/** Multipart forms with small files, within the body limit. Parsed by Node's own parser. */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * Also accepts multipart forms, of `bodyLimit` bytes (default: the server's limit). A file becomes a `data:` URL in its field, so that it can be rendered again like any
 * other input; no file is an empty text.
 */
export function acceptFiles(scope: FastifyInstance, bodyLimit?: number): void {
  scope.addContentTypeParser(
    "multipart/form-data",
    { parseAs: "buffer", ...(bodyLimit === undefined ? {} : { bodyLimit }) },
    async ({ headers }: FastifyRequest, body: Buffer) => readParts(body, headers["content-type"] ?? ""),
  );
}

async function readParts(body: Buffer, type: string): Promise<Form> {
  const parts = await new Response(new Uint8Array(body), { headers: { "content-type": type } })
    .formData()
    .catch(() => {
      throw Object.assign(new Error("the form cannot be read"), { statusCode: 400 });
    });
  const all = new Map<string, string[]>();
  for (const [name, part] of parts) {
    const value = typeof part === "string" ? part : await addressOf(part);
    // As in any other form: PostgreSQL can't store NUL.
    if (value.includes("\0")) throw Object.assign(new Error("a field holds a NUL"), { statusCode: 400 });
    // As in any other form: empty fields are dropped.
    if (value !== "") all.set(name, [...(all.get(name) ?? []), value]);
  }
  const repeated = new Map([...all].filter(([, values]) => values.length > 1));
  return {
    values: new Map([...all].map(([name, [value = ""]]) => [name, value])),
    repeated: new Set(repeated.keys()),
    allValues: repeated,
  };
}

async function addressOf(file: File): Promise<string> {
  if (file.size === 0) return "";
  return `data:application/octet-stream;base64,${Buffer.from(await file.arrayBuffer()).toString("base64")}`;
}
