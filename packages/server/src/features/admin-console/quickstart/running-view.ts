/** What the page of an application that is being set up is made from. */
import type { Application } from "../../../core/applications/application.ts";
import type { SetupFile } from "../../../core/stacks/stack.ts";
import type { StackCommands } from "../../../core/stacks/stack-commands.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { LastChange } from "../../../page-kit/actor-names.ts";
import type { CodeSnippet } from "./code-snippets.ts";
import type { ShellSnippet } from "./shell-snippets.ts";
import type { SnippetSource } from "./snippet-source.ts";
import type { WaitingView } from "./waiting.page.ts";

export type RunningView = ConsoleFrame &
  WaitingView & {
    application: Pick<Application, "id" | "name">;
    source: SnippetSource;
    /** For the client SDK. */
    sdk?: { env: string; code: readonly CodeSnippet[]; shell: readonly ShellSnippet[] };
    /** For another library, in its place. */
    setup?: { title: string; files: readonly SetupFile[]; commands: StackCommands };
    lastChange: LastChange | undefined;
  };
