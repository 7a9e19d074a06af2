// Whom Signet has signed in, in a single-page application around the UserManager that Signet prints in auth.ts. See README.md.
import { createApp } from "vue/dist/vue.esm-bundler.js";
import { userManager } from "./auth";

/** After the way back from Signet, the code goes out of the address. */
async function signedIn() {
  if (!new URLSearchParams(location.search).has("state")) return userManager.getUser();
  try {
    return await userManager.signinCallback();
  } finally {
    history.replaceState({}, "", location.pathname);
  }
}

const start = await signedIn().then(
  (user) => ({ user }),
  (error) => ({ fault: String(error) }),
);

createApp({
  data: () => ({ user: null, fault: "", ...start }),
  computed: {
    facts() {
      const { name, email, roles = [], iss } = this.user.profile;
      const token = this.user.access_token.slice(-8);
      return { name, email, roles: roles.join(", "), org: iss.split("/").at(-1), token };
    },
  },
  methods: {
    signIn: () => userManager.signinRedirect(),
    signOut: () => userManager.signoutRedirect(),
    async refresh() {
      try {
        this.user = await userManager.signinSilent();
      } catch (error) {
        this.fault = String(error);
      }
    },
  },
  template: `
    <p v-if="fault" role="alert">{{ fault }}</p>
    <template v-if="user">
      <dl>
        <template v-for="(text, term) in facts" :key="term"><dt>{{ term }}</dt><dd>{{ text }}</dd></template>
      </dl>
      <button id="refresh" type="button" @click="refresh">Renew the token</button>
      <button id="sign-out" type="button" @click="signOut">Sign out</button>
    </template>
    <button v-else id="sign-in" type="button" @click="signIn">Sign in</button>`,
}).mount("#root");
