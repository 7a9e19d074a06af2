/** An authenticator that Chromium plays itself (WebAuthn Level 3 §11): a platform's, with a PIN that is always right. */
import type { Page } from "playwright-core";

export type VirtualAuthenticator = {
  /** Whether somebody puts a finger on it when it is asked. Until then it waits. */
  attend(isAttended: boolean): Promise<void>;
  /** The ids of its passkeys, base64. */
  credentials(): Promise<string[]>;
};

/** Adds it to a page before the page asks for anything; somebody is there from the beginning. */
export async function addVirtualAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable", { enableUI: false });
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    attend: async (enabled) => {
      await session.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
    },
    credentials: async () => {
      const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
      return credentials.map(({ credentialId }) => credentialId);
    },
  };
}
