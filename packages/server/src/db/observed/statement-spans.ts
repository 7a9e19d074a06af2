/** Spans of statements, by the function of the store and without values. */
import { currentTracing } from "../../telemetry/tracing.ts";
import type { StatementObserver } from "./statement-observer.ts";

export const tracedStatements: StatementObserver = {
  observe: (name, run) => currentTracing()?.span(`db ${name}`, { "db.operation.name": name }, run) ?? run(),
};
