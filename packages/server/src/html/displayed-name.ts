/** Names of organisations and applications in emails and on the pages behind their links; never text that could be a message. */
import type { Messages } from "./messages/messages.ts";
import { quotableName } from "./quotable-name.ts";

/** The end of an id: its start is the time of creation, which neighbours share. */
const ID_CHARACTERS = 8;

export const organisationName = (
  { names }: Pick<Messages, "names">,
  { id, name }: { readonly id: string; readonly name: string },
): string => quotableName(name) ?? `${names.organisation} ${id.slice(-ID_CHARACTERS)}`;

export const applicationName = ({ names }: Pick<Messages, "names">, name: string): string =>
  quotableName(name) ?? names.application;

/** In a sentence: the reader sees where the name begins and ends. */
export const quoted = ({ names }: Pick<Messages, "names">, name: string): string => names.quoted({ name });

/** For readers who know the name: without quotation marks if it is too short to say anything. */
export const quotedIfLong = (messages: Pick<Messages, "names">, name: string): string =>
  name.split(" ").length > 2 ? quoted(messages, name) : name;
