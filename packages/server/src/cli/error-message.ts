/** The message of an error for the operator, without a stack. */
export function errorMessage(error: unknown): string {
  // Connecting to a host name with several addresses throws one error per address.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(errorMessage))].join("; ");
  return error instanceof Error ? error.message : String(error);
}
