/** One operation of the reference page. */
import { type Html, html } from "../../html/html.ts";
import type { OpenApiAnswer, OpenApiMedia, OpenApiOperation, OpenApiParameter } from "./openapi.ts";
import { memberList, prose, schemaView } from "./schema-view.ts";

export interface ShownOperation {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
  /** Of each status; shared ones looked up. */
  readonly answers: readonly (readonly [string, OpenApiAnswer])[];
}

export function operationView({ method, path, operation, answers }: ShownOperation): Html {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const good = answers.filter(([status]) => Number(status) < 400);
  const errors = answers.filter(([status]) => Number(status) >= 400);
  return html`<article class="card operation" id="${operationId}">
<h3>${summary}</h3>
<p class="route"><span class="tag">${method}</span> <code>${path}</code></p>
${description !== undefined && html`<p>${prose(description)}</p>`}
<p class="quiet">${credentialText(operation)}</p>
${parameterView(parameters)}
${requestBody && bodyView(requestBody)}
<h4>Answers</h4>
${good.map(([status, answer]) => answerView(status, answer))}
${errorView(errors)}
<details><summary>Example for a shell</summary>
${operation["x-codeSamples"].map(({ source }) => html`<pre>${source}</pre>`)}
</details>
</article>
`;
}

const schemeTexts: Readonly<Record<string, string>> = {
  systemAccount: "a system account’s signature",
  administratorAccount: "the signature of an administrator’s system account",
  sessionKey: "a session key",
  accessToken: "an access token",
  clientSecretBasic: "client authentication",
  agentKey: "the API key of a signing agent",
  deviceCertificate: "a device’s certificate",
  browserSession: "the browser session that began the request",
};

function credentialText({ security }: OpenApiOperation): Html {
  const alternatives = security.map((schemes) => Object.keys(schemes)).filter((names) => names.length > 0);
  if (alternatives.length === 0) return html`Anybody may call it.`;
  const text = alternatives
    .map((names) => names.map((name) => schemeTexts[name] ?? name).join(" and "))
    .join(", or ");
  return html`Needs <a href="#credentials">${text}</a>.`;
}

const places = { path: "In the path", query: "In the query", header: "Headers" } as const;

function parameterView(parameters: readonly OpenApiParameter[]): Html[] {
  return Object.entries(places).flatMap(([place, heading]) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    if (here.length === 0) return [];
    const members = here.map(({ required, ...parameter }) => ({ ...parameter, isRequired: required }));
    return [
      html`<h4>${heading}</h4>
${memberList(members)}
`,
    ];
  });
}

function bodyView({ required, content }: NonNullable<OpenApiOperation["requestBody"]>): Html[] {
  return Object.entries(content).map(
    ([type, media]) => html`<h4>Body</h4>
<p class="quiet"><code>${type}</code>${!required && ", may be left out"}</p>
${mediaView(media)}
${type === "application/json" && exampleView(media)}
`,
  );
}

function answerView(status: string, { description, headers, content = {} }: OpenApiAnswer): Html {
  const named = Object.entries(headers ?? {}).map(([name, header]) => ({
    name,
    isRequired: false,
    ...header,
  }));
  return html`<div class="answer">
<p><strong>${status}</strong> ${prose(description)}</p>
${named.length > 0 && memberList(named)}
${Object.values(content).map((media) => [mediaView(media), exampleView(media)])}
</div>
`;
}

function errorView(errors: readonly (readonly [string, OpenApiAnswer])[]): Html | undefined {
  if (errors.length === 0) return undefined;
  return html`<details><summary>Errors</summary>
<ul class="errors">
${errors.map(([status, { description }]) => html`<li><strong>${status}</strong> ${prose(description)}</li>\n`)}</ul>
</details>`;
}

const mediaView = ({ schema }: OpenApiMedia): Html | undefined => schema && schemaView(schema);

function exampleView({ example }: OpenApiMedia): Html | undefined {
  if (example === undefined) return undefined;
  return html`<details><summary>Example</summary>
<pre>${JSON.stringify(example, null, 2)}</pre>
</details>`;
}
