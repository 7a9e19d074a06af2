/** The sentence of an error, for the person at the terminal; never a stack. */
export function reasonOf(error: unknown): string {
  // A host name with several addresses: one error for each that was tried.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join("; ");
  return error instanceof Error ? error.message : String(error);
}
