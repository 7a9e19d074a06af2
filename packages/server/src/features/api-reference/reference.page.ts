/** The page at /docs: the OpenAPI document as HTML, without scripts or external resources. */
import { type Html, html } from "../../html/html.ts";
import { contentLayout, type PageFrame } from "../../html/layout.ts";
import type { OpenApiAnswer, OpenApiDocument, OpenApiResponse } from "./openapi.ts";
import { operationView, type ReferenceOperation } from "./operation-view.ts";
import { prose, recordId, schemaView } from "./schema-view.ts";
import { errorsText, hmacSignature, strictForm } from "./texts.ts";

export type ReferenceView = PageFrame & {
  document: OpenApiDocument;
  documentUri: string;
  /** Shell commands that sign a call, in the plain and the strict form. */
  samples: { plain: string; strict: string };
};

interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ReferenceOperation[];
}

export function referencePage(view: ReferenceView): Html {
  const { document } = view;
  const { title, version, description } = document.info;
  const groups = groupByTag(document);
  return contentLayout({
    ...view,
    title: `${title} API reference`,
    body: html`<div class="intro"><a class="skip" href="#signing">Skip table of contents</a>
<h1>${title} API reference</h1>
<p>${prose(description)}</p>
<p class="quiet">Version ${version}. Base URL <code>${document.servers[0]?.url}</code>. OpenAPI 3.1 document: <a href="${view.documentUri}">${view.documentUri}</a></p></div>
<div class="reference">
${contents(groups)}
<div class="chapters">
${signing(view)}
${credentials(document)}
<section id="errors"><h2>Errors</h2>
<p>${prose(errorsText)}</p></section>
${groups.map(chapter)}
${schemasSection(document)}
</div>
</div>`,
  });
}

function groupByTag({ tags, paths, components }: OpenApiDocument): Group[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      answers: Object.entries(operation.responses).map(
        ([status, response]) => [status, resolveResponse(response, components)] as const,
      ),
    })),
  );
  return tags.map(({ name, description }) => ({
    id: `tag-${name.toLowerCase().replace(/[^a-z]+/g, "-")}`,
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

function resolveResponse(
  response: OpenApiResponse,
  { responses }: OpenApiDocument["components"],
): OpenApiAnswer {
  if (!("$ref" in response)) return response;
  const shared = responses[response.$ref.split("/").at(-1) ?? ""];
  if (!shared) throw new Error(`${response.$ref} is not in components.responses`);
  return shared;
}

function contents(groups: readonly Group[]): Html {
  return html`<nav class="contents" aria-label="Contents">
<ul>
<li><a href="#signing">Request signing</a></li>
<li><a href="#credentials">Credentials</a></li>
<li><a href="#errors">Errors</a></li>
${groups.map(
  ({ id, name, operations }) => html`<li><a href="#${id}">${name}</a>
<ul>
${operations.map(contentsEntry)}</ul></li>
`,
)}<li><a href="#records">Schemas</a></li>
</ul>
</nav>`;
}

const contentsEntry = ({ operation }: ReferenceOperation): Html =>
  html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>\n`;

function signing({ samples }: ReferenceView): Html {
  return html`<section id="signing"><h2>Request signing</h2>
<p>${prose(hmacSignature)}</p>
<pre>${samples.plain}</pre>
<p>${prose(strictForm)}</p>
<pre>${samples.strict}</pre></section>`;
}

/** `systemAccount` is described under "Request signing". */
function credentials({ components }: OpenApiDocument): Html {
  const schemes = Object.entries(components.securitySchemes).filter(([name]) => name !== "systemAccount");
  return html`<section id="credentials"><h2>Credentials</h2>
<p>Each operation lists the credentials it requires. For a system account’s signature, see <a href="#signing">Request signing</a>.</p>
<ul class="members">
${schemes.map(
  ([name, scheme]) => html`<li><code class="member-name">${name}</code>
<p>${prose(scheme["description"] ?? "")}</p></li>\n`,
)}</ul></section>`;
}

function chapter({ id, name, description, operations }: Group): Html {
  return html`<section id="${id}"><h2>${name}</h2>
<p>${prose(description)}</p>
<ul class="entries">
${operations.map(contentsEntry)}</ul>
${operations.map(operationView)}</section>
`;
}

function schemasSection({ components }: OpenApiDocument): Html {
  return html`<section id="records"><h2>Schemas</h2>
${Object.entries(components.schemas).map(
  ([name, schema]) => html`<article class="card" id="${recordId(name)}">
<h3>${name}</h3>
${schema.description !== undefined && html`<p>${prose(schema.description)}</p>`}
${schemaView(schema)}
</article>
`,
)}</section>`;
}
