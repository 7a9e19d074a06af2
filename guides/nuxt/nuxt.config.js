export default defineNuxtConfig({
  modules: ["nuxt-auth-utils"],
  compatibilityDate: "2026-01-01",
});
