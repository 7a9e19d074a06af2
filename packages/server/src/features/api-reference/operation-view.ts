/** Renders one operation of the reference page. */
import { type Html, html } from "../../html/html.ts";
import type { OpenApiAnswer, OpenApiMedia, OpenApiOperation, OpenApiParameter } from "./openapi.ts";
import { memberList, prose, schemaView } from "./schema-view.ts";

export interface ReferenceOperation {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
  /** By status, with shared responses resolved. */
  readonly answers: readonly (readonly [string, OpenApiAnswer])[];
}

export function operationView({ method, path, operation, answers }: ReferenceOperation): Html {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const successes = answers.filter(([status]) => Number(status) < 400);
  const errors = answers.filter(([status]) => Number(status) >= 400);
  return html`<article class="card operation" id="${operationId}">
<h3>${summary}</h3>
<p class="route"><span class="method">${method}</span> <code>${path}</code></p>
${description !== undefined && html`<p>${prose(description)}</p>`}
<p class="quiet">${credentialText(operation)}</p>
${parameterView(parameters)}
${requestBody && bodyView(requestBody)}
<h4>Responses</h4>
${successes.map(([status, answer]) => answerView(status, answer))}
${errorView(errors)}
<details><summary>Shell example</summary>
${operation["x-codeSamples"].map(({ source }) => html`<pre>${source}</pre>`)}
</details>
</article>
`;
}

const schemeTexts: Readonly<Record<string, string>> = {
  systemAccount: "a system account’s signature",
  administratorAccount: "an administrator system account’s signature",
  sessionKey: "a session key",
  accessToken: "an access token",
  apiToken: "an access token for the API",
  clientSecretBasic: "client authentication",
  registrationToken: "a token for registration",
  agentKey: "a signing agent’s API key",
  deviceCertificate: "a device certificate",
  browserSession: "the browser session that started the request",
};

function credentialText({ security }: OpenApiOperation): Html {
  const alternatives = security.map((schemes) => Object.keys(schemes)).filter((names) => names.length > 0);
  if (alternatives.length === 0) return html`No authentication.`;
  const text = alternatives
    .map((names) => names.map((name) => schemeTexts[name] ?? name).join(" and "))
    .join(", or ");
  if (Object.keys(security[0] ?? {}).length === 0) return html`Optional: <a href="#credentials">${text}</a>.`;
  return html`Requires <a href="#credentials">${text}</a>.`;
}

const placeHeadings = { path: "Path parameters", query: "Query parameters", header: "Headers" } as const;

function parameterView(parameters: readonly OpenApiParameter[]): Html[] {
  return Object.entries(placeHeadings).flatMap(([place, heading]) => {
    const placed = parameters.filter((parameter) => parameter.in === place);
    if (placed.length === 0) return [];
    const members = placed.map(({ required, ...parameter }) => ({ ...parameter, isRequired: required }));
    return [
      html`<h4>${heading}</h4>
${memberList(members)}
`,
    ];
  });
}

function bodyView({ required, content }: NonNullable<OpenApiOperation["requestBody"]>): Html[] {
  return Object.entries(content).map(
    ([type, media]) => html`<h4>Request body</h4>
<p class="quiet"><code>${type}</code>${!required && ", optional"}</p>
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
