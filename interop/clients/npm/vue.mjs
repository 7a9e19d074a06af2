// A Vue application around the UserManager that `app create --for vue` prints in auth.ts.
import { createApp } from "vue/dist/vue.esm-bundler.js";
import { userManager } from "./auth";

const fault = (error) => ({ fault: String(error) });

async function signedIn() {
  if (!new URLSearchParams(location.search).has("code")) return userManager.getUser();
  const user = await userManager.signinCallback();
  history.replaceState({}, "", location.pathname);
  return user;
}

const start = await signedIn().then((user) => ({ user }), fault);

createApp({
  data: () => ({ user: null, fault: "", ...start }),
  methods: {
    signIn: () => userManager.signinRedirect(),
    signOut: () => userManager.signoutRedirect(),
    async refresh() {
      Object.assign(this, await userManager.signinSilent().then((user) => ({ user }), fault));
    },
  },
  template: `
    <p id="fault" v-if="fault">{{ fault }}</p>
    <template v-else-if="user">
      <output id="user">{{ JSON.stringify(user.profile) }}</output>
      <output id="token">{{ user.access_token }}</output>
      <button id="refresh" @click="refresh">Refresh</button>
      <button id="sign-out" @click="signOut">Sign out</button>
    </template>
    <button v-else id="sign-in" @click="signIn">Sign in</button>`,
}).mount("#root");
