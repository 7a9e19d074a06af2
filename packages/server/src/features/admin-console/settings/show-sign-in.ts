/** For the frame of an editor: the sign-in page as stored, or with what is typed. Nothing is stored. */
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { newNonce, sendEmbeddedDocument } from "../../../http/page.ts";
import { checkForm, requireSameOrigin } from "../../../page-kit/accept-form.ts";
import { pageMessages, pageOrganisation } from "../../../page-kit/console-frame.ts";
import { type ConsoleDeps, consolePath, requireAdministrator, type Visit } from "../../../page-kit/page.ts";
import { loadOrganisation } from "./organisation-record.ts";

export interface SignInPreviewDeps extends ConsoleDeps {
  /** The sign-in page of an organisation, without anything to press. */
  signInPage(
    frame: PageFrame,
    organisation: PageOrganisation,
    methods: OrganisationSettings["signInMethods"],
  ): Html;
}

export async function showSignIn(
  deps: SignInPreviewDeps,
  visit: Visit,
  editor: {
    /** Of the form. */
    path: string;
    /** What can't be saved isn't shown: it stays as it is. */
    withDraft(record: Organisation, values: ReadonlyMap<string, string>, messages: Messages): Organisation;
    /** What is stored nowhere yet, and so has no address: the images of a draft as `data:` URLs. */
    draftImages?(values: ReadonlyMap<string, string>): Partial<PageOrganisation>;
  },
): Promise<void> {
  const isDraft = visit.request.method === "POST";
  if (isDraft) requireSameOrigin(deps, visit);
  const signedIn = await requireAdministrator(deps, visit, consolePath(visit.organisation, editor.path));
  const form = isDraft && (await checkForm(deps, visit, signedIn));
  const record = await loadOrganisation(deps, visit);
  const messages = pageMessages(visit, signedIn);
  const frame = { messages, nonce: newNonce(), stylesheet: stylesheet.path };
  const isOurs = form && form.outcome === "accepted";
  const shown = isOurs ? editor.withDraft(record, form.values, messages) : record;
  const images = isOurs ? editor.draftImages?.(form.values) : undefined;
  if (form && form.outcome === "rejected") visit.reply.code(form.refusal.status);
  const organisation = { ...pageOrganisation(shown), ...images };
  const page = deps.signInPage(frame, organisation, shown.settings.signInMethods);
  await sendEmbeddedDocument(visit.reply, render(page), { isOurPage: true });
}
