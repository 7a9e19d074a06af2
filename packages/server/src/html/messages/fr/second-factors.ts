import { formatDuration } from "../format.ts";

const LOCALE = "fr";

export const twoFactor = {
  title: (application: string) => `Confirmez que c’est vous pour continuer vers ${application}`,
  headings: {
    passkey: "Utilisez votre clé d’accès",
    totp: "Saisissez le code d’authentification",
    recovery: "Saisissez un code de récupération",
  },
  explanations: {
    passkey:
      "Votre navigateur demande votre empreinte, votre visage, votre code PIN ou votre clé de sécurité.",
    totp: "Ouvrez votre application d’authentification et saisissez les six chiffres affichés.",
    recovery: "Vous en avez conservé dix en configurant votre second facteur. Chacun ne sert qu’une fois.",
  },
  signingInAs: "Connexion avec",
  otherAccount: "Pas vous ? Changer de compte",
  code: "Code",
  recoveryCode: "Code de récupération",
  remember: "Mémoriser ce navigateur pendant 30 jours",
  rememberHint: "Seulement si personne d’autre ne s’y connecte.",
  submit: (application: string) => `Continuer vers ${application}`,
  usePasskey: "Utiliser la clé d’accès",
  others: "Autre méthode",
  choose: {
    passkey: "Utiliser une clé d’accès",
    totp: "Utiliser votre application d’authentification",
    recovery: "Utiliser un code de récupération",
  },
  needsScript: "Les clés d’accès ont besoin des scripts, qui sont désactivés dans ce navigateur.",
  failed: "La connexion n’a pas abouti",
  failures: {
    passkey: "Cette clé d’accès n’a pas fonctionné. Réessayez ou choisissez une autre méthode.",
    totp: "Le code est erroné, trop ancien ou déjà utilisé. Attendez le suivant, puis saisissez-le.",
    recovery: "Ce code ne fait pas partie de vos codes encore valables. Vérifiez-le, puis réessayez.",
  },
  passkeyFailed: "Votre navigateur n’a obtenu aucune clé d’accès. Réessayez ou choisissez une autre méthode.",
  rateLimited: (seconds: number) =>
    `Il y a eu trop de codes erronés. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
  rateLimitedSoon: "Il y a eu trop de codes erronés. Attendez quelques minutes, puis réessayez.",
};

export const enrolment = {
  title: (application: string) => `Ajoutez un second facteur pour continuer vers ${application}`,
  heading: "Ajoutez un second facteur",
  askedByOrganisation: (organisation: string) =>
    `L’organisation ${organisation} protège ses comptes par un second facteur, en plus du mot de passe.`,
  askedByApplication: (application: string) => `Pour ${application}, un mot de passe ne suffit pas.`,
  totp: {
    heading: "Configurez une application d’authentification",
    scan: "Scannez ce code avec votre application d’authentification",
    image: "QR code pour votre application d’authentification",
    open: "Sur cet appareil ? Ouvrir l’application",
    byHand: "Impossible de le scanner ?",
    key: "Saisissez plutôt cette clé dans votre application :",
    copy: "Copier",
    copied: "Copiée",
    code: "Code de l’application",
    submit: "Ajouter l’application",
    wrong: "L’application n’est pas encore configurée",
    wrongCode: "Ce code ne correspond pas à cette clé. Attendez le suivant, puis saisissez-le.",
  },
  passkey: {
    heading: "Ajoutez une clé d’accès",
    explanation:
      "Une clé d’accès vous connecte avec votre empreinte, votre visage, un code PIN ou une clé de sécurité. Elle ne fonctionne qu’ici : aucune page imitée ne peut vous la prendre.",
    name: "Nom, pour distinguer vos clés d’accès",
    suggestedName: "Ma clé d’accès",
    submit: "Ajouter la clé d’accès",
    wrong: "La clé d’accès n’a pas été ajoutée",
    notAdded: "La réponse de votre navigateur n’a pas pu être utilisée. Réessayez.",
    known: "Cette clé d’accès est déjà enregistrée.",
    tooMany: "Votre compte a déjà le nombre maximal de clés d’accès. Supprimez-en d’abord une.",
  },
  others: "Autre méthode",
  choose: {
    totp: "Utiliser une application d’authentification",
    passkey: "Utiliser une clé d’accès",
  },
};

export const recoveryCodes = {
  title: "Codes de récupération",
  heading: "Conservez vos codes de récupération",
  explanation:
    "Chacun vous permet de vous connecter une fois, quand vous n’avez pas votre second facteur sous la main. Imprimez-les ou gardez-les dans un gestionnaire de mots de passe.",
  once: "Vous ne les reverrez plus",
  onceText: "Nous ne gardons que ce qui permet de les reconnaître.",
  list: "Vos codes de récupération",
  copy: "Tout copier",
  copied: "Copiés",
  kept: (destination: string) => `Je les ai conservés, continuer vers ${destination}`,
  keptHere: "Je les ai conservés",
};
