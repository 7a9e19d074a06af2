import { formatDuration } from "../format.ts";

const LOCALE = "fr";

export const frame = {
  signInBy: "Connexion assurée par Signet",
  about: "Signet : connexion et autorisation pour les organisations",
  documentTitle: (title: string, organisation: string) => `${title} · ${organisation}`,
};

export const error = {
  titles: {
    badRequest: "Cette demande ne peut pas aboutir",
    notPermitted: "Vous n’avez pas accès à cette page",
    notFound: "Il n’y a rien à cette adresse",
    tooMany: "Trop de demandes",
    internal: "Un problème est survenu de notre côté",
    unavailable: "Signet est très sollicité en ce moment",
  },
  advice: {
    badRequest:
      "Revenez à l’application d’où vous venez et réessayez. Si cela se reproduit, prévenez son assistance.",
    notPermitted:
      "Connectez-vous avec un autre compte ou adressez-vous à un administrateur de votre organisation.",
    notFound: "Vérifiez l’adresse ou revenez à l’application d’où vous venez.",
    tooMany: "Attendez quelques minutes, puis réessayez.",
    internal:
      "Vous n’y êtes pour rien. Réessayez dans un instant ; si le problème persiste, communiquez à l’assistance la référence ci-dessous.",
    unavailable: "Attendez un instant, puis réessayez.",
  },
  reasons: {
    "client-id-missing": "Le lien ne nomme aucune application (client_id est absent).",
    "client-unknown": "L’application (client_id) n’est pas connue ici.",
    "redirect-uri-missing": "Le lien n’indique pas où revenir (redirect_uri est absent).",
    "redirect-uri-unregistered":
      "L’adresse de retour (redirect_uri) n’est pas enregistrée pour cette application.",
    "app-id-missing": "Le lien ne nomme aucune application (appId est absent).",
    "app-unknown": "L’application (appId) n’est pas connue ici.",
    "return-url-missing": "Le lien n’indique pas où revenir (returnUrl est absent).",
    "return-url-unregistered":
      "L’adresse de retour (returnUrl) n’est pas enregistrée pour cette application.",
    "page-too-old": "Cette page est trop ancienne. Revenez à l’application et recommencez.",
    "answer-foreign":
      "Cette réponse ne correspond à aucune connexion commencée ici. Réessayez depuis la page de départ.",
    "sign-in-not-completed": "La connexion n’a pas été menée à terme.",
    "administrators-only": "Cette page est réservée aux administrateurs de l’organisation.",
    "foreign-form":
      "Ce formulaire a été envoyé depuis un autre site, et rien n’a été modifié. Ouvrez la page ici et remplissez-la vous-même.",
  },
  reference: "Référence",
  back: (application: string) => `Ouvrir ${application}`,
};

export const signIn = {
  title: (application: string) => `Connectez-vous pour continuer vers ${application}`,
  heading: "Connectez-vous",
  headingTo: (application: string) => `pour continuer vers ${application}`,
  email: "Adresse e‑mail",
  password: "Mot de passe",
  submit: (application: string) => `Continuer vers ${application}`,
  failed: "La connexion n’a pas abouti",
  again: "Confirmez que c’est bien vous",
  againText: "Vous êtes connecté. Pour une modification, la connexion doit dater de moins de dix minutes.",
  invalidCredentials:
    "L’adresse e‑mail et le mot de passe ne correspondent pas. Vérifiez-les, puis réessayez.",
  rateLimited: (seconds: number) =>
    `Il y a eu trop de tentatives. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
  rateLimitedSoon: "Il y a eu trop de tentatives. Attendez quelques minutes, puis réessayez.",
  busy: (seconds: number) =>
    `Beaucoup de personnes se connectent en ce moment. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez ; ce que vous avez saisi n’est pas en cause.`,
  busySoon:
    "Beaucoup de personnes se connectent en ce moment. Attendez un instant, puis réessayez ; ce que vous avez saisi n’est pas en cause.",
  disabled: (organisation: string, application: string) =>
    `Votre compte ${organisation} ne peut pas être utilisé pour ${application}. Adressez-vous à un administrateur de l’organisation ${organisation}.`,
  expired: "Cette page a expiré",
  sessionExpired: "Rien n’est perdu : saisissez de nouveau votre mot de passe pour continuer.",
  or: "ou",
  usePasskey: "Se connecter avec une clé d’accès",
  invalidPasskey:
    "Cette clé d’accès ne fonctionne pas ici. Utilisez votre mot de passe ou une autre clé d’accès.",
  passkeyFailed: "Votre navigateur n’a obtenu aucune clé d’accès. Réessayez ou utilisez votre mot de passe.",
};

export const places = {
  account: (organisation: string) => `votre compte ${organisation}`,
  device: (organisation: string) => `votre appareil (${organisation})`,
  devices: (organisation: string) => `les appareils de l’organisation ${organisation}`,
  console: (organisation: string) => `la console de l’organisation ${organisation}`,
  application: (organisation: string) => `une application de l’organisation ${organisation}`,
};

export const notAssigned = {
  heading: (application: string) => `Vous n’avez pas encore accès à l’application ${application}`,
  explanation: (organisation: string, application: string) =>
    `Chez ${organisation}, l’application ${application} est réservée aux personnes à qui elle a été attribuée, et ce compte n’en fait pas partie.`,
  ask: (organisation: string) =>
    `Demandez à un administrateur de l’organisation ${organisation} de vous l’attribuer.`,
  askContacts: "Pour obtenir cet accès, adressez-vous à :",
  signedInAs: "Session ouverte avec",
  switchAccount: "Pas vous ? Changer de compte",
  back: (application: string) => `Revenir vers ${application}`,
};

export const account = {
  title: (application: string) => `Choisissez un compte pour continuer vers ${application}`,
  heading: "Choisissez un compte",
  headingTo: (application: string) => `pour continuer vers ${application}`,
  continueAs: (who: string) => `Continuer avec le compte ${who}`,
  other: "Utiliser un autre compte",
};

export const signOut = {
  heading: (organisation: string) => `Se déconnecter de votre compte ${organisation} ?`,
  askedBy: (application: string) => `L’application ${application} l’a demandé.`,
  explanation: "Dans ce navigateur, les applications vous demanderont de vous reconnecter.",
  signedInAs: "Session ouverte avec",
  confirm: "Se déconnecter",
  stay: "Garder la session",
  doneHeading: "Votre session est fermée",
  done: (organisation: string) =>
    `Ce navigateur n’est plus connecté à votre compte ${organisation}. Vous pouvez fermer cette fenêtre.`,
  back: (application: string) => `Ouvrir ${application}`,
};

export const formPost = {
  heading: (application: string) => `Redirection vers ${application}`,
  explanation: "Les scripts sont désactivés dans ce navigateur : il reste une étape.",
  submit: (application: string) => `Continuer vers ${application}`,
};
