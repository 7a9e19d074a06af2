import { type Answer, openConnection } from "./http-connection.ts";

const connections = 16;

/**
 * Asks for `count` codes with a signed-in browser's cookie, over a few connections at once; every answer must be a
 * redirect that carries one (RFC 6749 §4.1.2). Rejects at the first that is not.
 */
export async function collectCodes(
  port: number,
  path: string,
  cookie: string,
  count: number,
): Promise<string[]> {
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nCookie: ${cookie}\r\n\r\n`);
  const codes: string[] = [];
  const done = Promise.withResolvers<void>();
  let sent = 0;
  const open = await Promise.all(
    Array.from({ length: Math.min(connections, count) }, async () => {
      const onAnswer = (answer: Answer) => {
        const code = codeOf(answer);
        if (code === undefined)
          return done.reject(new Error(`no code: ${answer.status} ${answer.body().slice(0, 300)}`));
        codes.push(code);
        if (codes.length === count) done.resolve();
        else send();
      };
      const connection = await openConnection(port, { onAnswer, onFault: done.reject });
      const send = () => {
        if (sent >= count) return;
        sent += 1;
        connection.send(request);
      };
      return { ...connection, send };
    }),
  );
  for (const connection of open) connection.send();
  try {
    await done.promise;
  } finally {
    for (const connection of open) connection.close();
  }
  return codes;
}

function codeOf(answer: Answer): string | undefined {
  if (answer.status !== 302 && answer.status !== 303) return undefined;
  const location = /\r\nlocation: *([^\r\n]+)/i.exec(answer.head)?.[1];
  return location === undefined ? undefined : (new URL(location).searchParams.get("code") ?? undefined);
}
