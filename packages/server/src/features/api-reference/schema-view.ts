/** Renders a schema: each member with its type, limits and description. */
import { type Content, type Html, html } from "../../html/html.ts";
import type { JsonSchema } from "./openapi.ts";

/** Renders text between backticks as code. */
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
<div class="member"><code class="member-name">${name}</code> <span class="member-type">${typeLabel(schema)}</span>${isRequired && html` <span class="quiet">required</span>`}</div>
${text !== undefined && html`<p>${prose(text)}</p>`}${nested(schema)}</li>
`;
}

export function listMembers({ properties = {}, required = [], allOf = [] }: JsonSchema): Member[] {
  const own = Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: required.includes(name),
    schema,
  }));
  return [...allOf.flatMap(listMembers), ...own];
}

/** The members of the objects inside a list or a union. */
function nested(schema: JsonSchema): Html | undefined {
  const members = listMembers(schema);
  if (members.length > 0) return memberList(members);
  const inside = schema.items ?? schema.anyOf?.find(({ properties }) => properties);
  return inside && nested(inside);
}

export function schemaView(schema: JsonSchema): Html {
  const members = listMembers(schema);
  return html`<p class="member-type">${typeLabel(schema)}</p>
${members.length > 0 ? memberList(members) : nested(schema)}`;
}

export const recordId = (name: string): string => `record-${name}`;

function typeLabel(schema: JsonSchema): Content {
  const { $ref, anyOf, items } = schema;
  const name = $ref?.split("/").at(-1);
  if (name !== undefined) return html`<a href="#${recordId(name)}">${name}</a>`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return joinWithOr(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`));
  if (anyOf) return joinWithOr(anyOf.map(typeLabel));
  if (items) return ["list of ", typeLabel(items)];
  const types = [schema.type ?? (schema.properties || schema.allOf ? "object" : "anything")]
    .flat()
    .join(" or ");
  const limits = limitsText(schema);
  return limits === "" ? types : `${types}, ${limits}`;
}

const joinWithOr = (choices: readonly Content[]): Content[] =>
  choices.flatMap((choice, index) => (index === 0 ? [choice] : [" or ", choice]));

function limitsText({ format, minimum, maximum, minLength, maxLength }: JsonSchema): string {
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
