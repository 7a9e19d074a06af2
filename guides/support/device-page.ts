/** A person confirms the code of a device, from the address that has it. */
import assert from "node:assert/strict";
import type { Person } from "../../interop/clients/person.ts";

export async function confirmCode(person: Person, uri: string): Promise<void> {
  const { origin, pathname, searchParams } = new URL(uri);
  const page = `${origin}${pathname}`;
  const form = await person.signIn(await person.open(uri));
  const code = { user_code: searchParams.get("user_code") ?? "" };
  const question = await person.submit(page, { ...form.hidden, ...code });
  const done = await person.submit(page, { ...question.hidden, decision: "allow" });
  assert.match(done.body, /id="device-done"/, done.body.slice(0, 2_000));
}
