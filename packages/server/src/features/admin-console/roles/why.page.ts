/** Why a subject may or may not: the question, the answer, and the paths that lead to it. */
import type { Explanation, PathStep } from "../../../core/roles/access-paths.ts";
import { subjectTypes } from "../../../core/roles/assignments.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { card } from "../../../html/components/card.ts";
import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";

export const questions = ["use", "role", "permission"] as const;
export type Question = (typeof questions)[number];

export type WhyInput = {
  subjectType: (typeof subjectTypes)[number];
  subject: string;
  application: string;
  ask: Question;
  value: string;
};

export type WhyView = ConsoleFrame & {
  readonly input: WhyInput;
  readonly faults: Readonly<Record<string, string>>;
  /** Undefined where nothing was asked yet, or the question has faults. */
  readonly answer: Explanation | undefined;
  readonly breadcrumbs: ConsoleView["breadcrumbs"];
};

export function whyPage(view: WhyView): Html {
  const { why: text } = view.messages.console.roles;
  return consoleLayout({
    ...view,
    breadcrumbs: view.breadcrumbs,
    title: text.title,
    summary: text.summary,
    body: [questionCard(view), view.answer && answerCard(view, view.answer)],
  });
}

function questionCard(view: WhyView): Html {
  const { messages, faults, consoleUri } = view;
  const { why: text, assignments } = messages.console.roles;
  const labels = {
    ...{ subjectType: text.subjectType, subject: text.subject, application: text.application },
    ...{ ask: text.ask, value: text.value },
  };
  const field = fieldsOf({ input: view.input, state: { faults }, messages }, labels);
  const fields = [
    selectField({
      ...field("subjectType"),
      choices: subjectTypes.map((value) => ({ value, label: assignments.types[value] })),
    }),
    textField({ ...field("subject"), hint: assignments.subjectHint, maxLength: 254 }),
    textField({ ...field("application"), hint: text.applicationHint, maxLength: 254 }),
    selectField({
      ...field("ask"),
      choices: questions.map((value) => ({ value, label: text.questions[value] })),
    }),
    textField({ ...field("value"), hint: text.valueHint, maxLength: 129, isCode: true, isOptional: true }),
  ];
  return card({
    id: "question",
    title: text.question,
    body: html`<form class="form" id="why-form" method="get" action="${linkAddress(consoleUri("/access-check"))}" novalidate>
${fields}<div class="actions"><button class="button primary" id="why-submit" type="submit">${text.submit}</button></div>
</form>
`,
  });
}

function answerCard({ messages, consoleUri }: WhyView, { allowed, reason, paths }: Explanation): Html {
  const { why: text } = messages.console.roles;
  const path = (steps: readonly PathStep[]) =>
    html`<li>${steps.map((step, index) => [index > 0 && html` <span aria-hidden="true">→</span> `, stepLink(step, consoleUri, text.steps[step.type])])}</li>
`;
  return card({
    id: "answer",
    title: text.answer,
    body: [
      html`<p id="why-answer">${badge(allowed ? "good" : "bad", allowed ? text.allowed : text.denied)}</p>
<p>${text.reasons[reason]}</p>
`,
      paths.length > 0 &&
        html`<h3>${text.paths}</h3>
<ol class="plain-list" id="why-paths">${paths.map(path)}</ol>
`,
    ],
  });
}

const places = { user: "users", group: "groups", role: "roles" } as const;

/** What it is stands before it, for who hears the path. */
function stepLink(
  { type, id, name }: PathStep,
  consoleUri: (rest: string) => string,
  label: string,
): Content {
  const named =
    type === "permission" || type === "role" ? html`<code>${name}</code>` : html`<bdi>${name}</bdi>`;
  const shown =
    type === "permission" || id === undefined
      ? named
      : html`<a href="${linkAddress(consoleUri(`/${places[type]}/${id}`))}">${named}</a>`;
  return html`<span class="quiet">${label}</span> ${shown}`;
}
