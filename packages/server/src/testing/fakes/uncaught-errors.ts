/**
 * Makes a program fail where nobody catches it, at SIGUSR2: `node --import uncaught-errors.ts`. What fails is in
 * SIGNET_TEST_UNCAUGHT: `throw` or `reject`. It fails again and again, with a secret in its message.
 */
const SECRET = "sgn_cs_uncaught-errors-secret";

process.on("SIGUSR2", () => {
  let count = 0;
  const timer = setInterval(() => {
    if (++count === 5) clearInterval(timer);
    const error = new Error(`broken for ${SECRET}`);
    if (process.env["SIGNET_TEST_UNCAUGHT"] === "throw") throw error;
    void Promise.reject(error);
  }, 5);
});
