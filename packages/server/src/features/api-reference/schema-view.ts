/** A schema for readers: each member with its type, what it must be, and what it means. */
import { type Content, type Html, html } from "../../html/html.ts";
import type { JsonSchema } from "./openapi.ts";

/** What stands between backticks is code. */
export function prose(text: string): Content[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
}

export function memberList(members: readonly Member[]): Html {
  return html`<ul class="members">
${members.map(memberItem)}</ul>`;
}

function memberItem({ name, isRequired, schema, description }: Member): Html {
  const text = description ?? schema.description;
  return html`<li>
<div class="member"><code class="member-name">${name}</code> <span class="member-type">${typeOf(schema)}</span>${isRequired && html` <span class="tag">required</span>`}</div>
${text !== undefined && html`<p>${prose(text)}</p>`}${nested(schema)}</li>
`;
}

/** The members of an object that has no name of its own. */
export function membersOf({ properties = {}, required = [], allOf = [] }: JsonSchema): Member[] {
  const own = Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    schema,
  }));
  return [...allOf.flatMap(membersOf), ...own];
}

/** Below a type: what the objects in it are made of. */
function nested(schema: JsonSchema): Html | undefined {
  const members = membersOf(schema);
  if (members.length > 0) return memberList(members);
  const inside = schema.items ?? schema.anyOf?.find(({ properties }) => properties);
  return inside && nested(inside);
}

/** All of a schema: a reference, or its members. */
export function schemaView(schema: JsonSchema): Html {
  const members = membersOf(schema);
  return html`<p class="member-type">${typeOf(schema)}</p>
${members.length > 0 ? memberList(members) : nested(schema)}`;
}

export const recordId = (name: string): string => `record-${name}`;

function typeOf(schema: JsonSchema): Content {
  const { $ref, anyOf, items } = schema;
  const name = $ref?.split("/").at(-1);
  if (name !== undefined) return html`<a href="#${recordId(name)}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return separated(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  if (anyOf) return separated(anyOf.map(typeOf));
  if (items) return ["list of ", typeOf(items)];
  const plain = [schema.type ?? (schema.properties || schema.allOf ? "object" : "anything")]
    .flat()
    .join(" or ");
  const limits = limitsOf(schema);
  return limits === "" ? plain : `${plain}, ${limits}`;
}

const separated = (choices: readonly Content[]): Content[] =>
  choices.flatMap((choice, index) => (index === 0 ? [choice] : [" or ", choice]));

function limitsOf({ format, minimum, maximum, minLength, maxLength }: JsonSchema): string {
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `from ${minimum}`
        : maximum !== undefined
          ? `up to ${maximum}`
          : undefined;
  const length =
    maxLength === undefined
      ? undefined
      : minLength === undefined
        ? `up to ${maxLength} characters`
        : `${minLength} to ${maxLength} characters`;
  return [format, range, length].filter((part) => part !== undefined).join(", ");
}
