/** The frame of an account page, for tests of what is in it. */
import type { ConsoleFrame } from "../html/console/console-layout.ts";
import { testFrame } from "../html/page-checks.ts";

/** @param current the id of the page that it is */
export const accountTestFrame = (current: string): ConsoleFrame => ({
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  homeUri: "/oauth/1/account/profile",
  navigation: {
    label: "Your account",
    sections: [
      {
        links: ["profile", "security", "sessions", "consents"].map((id) => ({
          id,
          label: `Page ${id}`,
          uri: `/oauth/1/account/${id}`,
          isCurrent: id === current,
        })),
      },
    ],
  },
  user: { email: "uma@acme.example" },
  elsewhere: [{ id: "nav-console", label: "Console", uri: "/oauth/manage/1" }],
  signOutUri: "/oauth/1/end_session",
  otherOrganisations: [],
});
