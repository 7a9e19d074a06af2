/** Beside every tab: what the application's own configuration needs, to be copied. */
import type { Application } from "../../../core/applications/application.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { type Html, html } from "../../../html/html.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";

export type IntegrationView = RecordView<Application> & {
  /** Of the tokens. */
  readonly issuer: string;
  readonly discoveryUri: string;
  readonly endpoints: Readonly<Record<Endpoint, string>>;
};

export type Endpoint = "authorization" | "token" | "userinfo" | "jwks" | "endSession" | "device";

/** Those that the application's grant types use. */
function endpointsOf({ record }: IntegrationView): readonly Endpoint[] {
  switch (kindOf(record)) {
    case "service":
      return ["token", "jwks"];
    case "device":
      return ["device", "token", "userinfo", "jwks"];
    default:
      return ["authorization", "token", "userinfo", "jwks", "endSession"];
  }
}

export function integrationCard(view: IntegrationView): Html {
  const { messages, record, endpoints } = view;
  const { applications, frame } = messages.console;
  const { integration, record: text } = applications;
  const copied = (id: string, label: string, value: string) => ({
    label,
    content: copyField({ id, value, label, ...frame.secret }),
  });
  return card({
    id: "integration",
    title: integration.title,
    body: [
      facts([
        copied("client-id", text.clientId, record.id),
        copied("issuer", text.issuer, view.issuer),
        copied("discovery", integration.discovery, view.discoveryUri),
      ]),
      html`<details class="endpoints"><summary>${integration.endpoints}</summary>
${facts(endpointsOf(view).map((name) => copied(`endpoint-${name}`, integration[name], endpoints[name])))}</details>
`,
      buttonLink({
        id: "application-quickstart",
        uri: view.consoleUri(`/quickstart/${record.id}`),
        label: integration.quickstart,
      }),
    ],
  });
}
