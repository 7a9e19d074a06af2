/** What a test was told when something is not as it says. */

/** A test asked for what is not there, or an expectation did not hold. */
export class TestIssuerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TestIssuerError";
  }
}
