/** quickstart/new: registers the application of one entry of the gallery, and shows its settings. */
import type { Application } from "../../../core/applications/application.ts";
import { createApplication } from "../../../core/applications/applications.ts";
import { createWithSecret } from "../../../core/applications/client-secrets.ts";
import {
  addressOf,
  clientTypeOf,
  hasAddress,
  settingsAt,
  startsWithSecret,
} from "../../../core/applications/kinds.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { type Stack, settingsOfStack, usesAddress } from "../../../core/stacks/stack.ts";
import { stacks } from "../../../core/stacks/stacks.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, type OneTimeForm } from "../../../page-kit/accept-form.ts";
import { pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import {
  auditContext,
  consolePath,
  redirectTo,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { duplicateCreation, initialSettings } from "../applications/create-application.ts";
import { type ApplicationInput, applicationFormPage } from "./application-form.page.ts";
import { explainFaults } from "./explain-faults.ts";
import { titleOf } from "./gallery.page.ts";
import { type GalleryEntry, galleryEntry, isGalleryName } from "./gallery.ts";
import { type RunningDeps, showRunning } from "./running.route.ts";

const DEFAULT_ADDRESS = "http://localhost:3000";

/** What an entry needs of its application. */
interface Needs {
  readonly stack: Stack | undefined;
  /** That the form starts with; undefined when no address is asked for. */
  readonly address: string | undefined;
  readonly hasSecret: boolean;
}

function needsOf(entry: GalleryEntry): Needs {
  if (entry.stack === undefined) {
    const address = hasAddress(entry.kind) ? DEFAULT_ADDRESS : undefined;
    return { stack: undefined, address, hasSecret: startsWithSecret(entry.kind) };
  }
  const stack: Stack = stacks[entry.stack];
  return {
    stack,
    address: usesAddress(stack) ? stack.address : undefined,
    hasSecret: stack.clientType === "confidential",
  };
}

const findEntry = (name: string | undefined): GalleryEntry =>
  galleryEntry(isGalleryName(name) ? name : "web");

const formPath = ({ organisation }: Visit, { name }: GalleryEntry): string =>
  consolePath(organisation, `/quickstart/new?for=${name}`);

export async function showEntryForm(deps: RunningDeps, visit: Visit): Promise<void> {
  const entry = findEntry(parseQuery(visit.request).values.get("for"));
  const signedIn = await requireRecentAuthentication(deps, visit, formPath(visit, entry));
  const name = titleOf(entry, pageMessages(visit, signedIn));
  const { address = "" } = needsOf(entry);
  await showForm(deps, visit, signedIn, entry, { input: { name, address } });
}

const showForm = (
  deps: RunningDeps,
  visit: Visit,
  signedIn: SignedIn,
  entry: GalleryEntry,
  shown: FormShown<ApplicationInput>,
) =>
  showFormPage(deps, visit, signedIn, "quickstart", shown, (view) =>
    applicationFormPage(view, entry, needsOf(entry).address),
  );

const MAX_LETTERS = 2_048;

const readInput = (values: ReadonlyMap<string, string>): ApplicationInput => ({
  name: (values.get("name") ?? "").trim().slice(0, MAX_LETTERS),
  address: (values.get("address") ?? "").trim().slice(0, MAX_LETTERS),
});

export async function createFromForm(deps: RunningDeps, visit: Visit): Promise<void> {
  const entry = findEntry(parsedForm(visit.request).values.get("for"));
  const form = await acceptOneTimeForm(deps, visit, formPath(visit, entry));
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const input = readInput(form.values);
  const rerender = (shown: Partial<FormShown<ApplicationInput>>) =>
    showForm(deps, visit, signedIn, entry, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const needs = needsOf(entry);
  const address = needs.address === undefined ? undefined : addressOf(input.address);
  if (needs.address !== undefined && address === undefined) {
    const faults = { address: messages.console.quickstart.begin.addressFault };
    return rerender({ state: { faults }, status: 400 });
  }
  try {
    const created = await createOnce(deps, visit, form, entry, { name: input.name, address });
    if (created === "duplicate-submission")
      return rerender(duplicateCreation(visit, signedIn, needs.hasSecret ? "web" : "spa"));
    const { application, plaintext: secret } = created;
    if (secret !== undefined) return showRunning(deps, visit, signedIn, application, { secret, entry });
    const path = `/quickstart/${application.id}?for=${entry.name}`;
    await redirectTo(visit, consolePath(visit.organisation, path));
  } catch (error) {
    if (!(error instanceof InvalidApplication)) throw error;
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

function createOnce(
  deps: RunningDeps,
  visit: Visit,
  form: OneTimeForm & { readonly signedIn: SignedIn },
  entry: GalleryEntry,
  { name, address }: { name: string; address: string | undefined },
): Promise<{ application: Application; plaintext?: string } | "duplicate-submission"> {
  const by = auditContext(visit, form.signedIn);
  const { firstLabel: secretLabel } = pageMessages(visit, form.signedIn).console.applications.secrets;
  const { hasSecret } = needsOf(entry);
  return applyOnce(deps, form, async (inside) => {
    const content =
      entry.stack === undefined
        ? {
            clientType: clientTypeOf[entry.kind],
            settings: address === undefined ? initialSettings(entry.kind) : settingsAt(entry.kind, address),
          }
        : {
            clientType: stacks[entry.stack].clientType,
            settings: settingsOfStack(stacks[entry.stack], address),
          };
    const input = { ...by, name, ...content };
    return hasSecret
      ? createWithSecret(inside, { ...input, secretLabel })
      : { application: await createApplication(inside, input) };
  });
}
