/** What is around every page of the console and of an account, and what all of them say alike. */
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "fr";

export const frame = {
  skip: "Aller au contenu",
  menu: "Menu",
  navigation: "Console",
  breadcrumbs: "Fil d’Ariane",
  switch: "Autres organisations",
  account: "Votre compte",
  signOut: "Se déconnecter",
  sections: {
    applications: "Applications",
    people: "Personnes",
    keys: "Clés et appareils",
    organisation: "Organisation",
  },
  pages: {
    overview: "Vue d’ensemble",
    quickstart: "Démarrage rapide",
    applications: "Applications",
    scopes: "Scopes",
    consents: "Consentements",
    users: "Utilisateurs",
    systemAccounts: "Comptes de service",
    signingKeys: "Clés de signature",
    pools: "Pools de signature",
    devices: "Appareils",
    settings: "Paramètres",
    mailTemplates: "Modèles d’e‑mail",
    auditLog: "Journal d’audit",
  },
  accountPages: {
    profile: "Profil",
    security: "Mot de passe et sécurité",
    sessions: "Sessions",
    consents: "Applications",
    activity: "Activité",
    data: "Vos données",
  },
  console: "Console",
  list: {
    submit: "Rechercher",
    all: "Tout afficher",
    noneFound: "Aucun résultat",
    noneFoundText: "Cherchez autre chose, ou affichez tout.",
    firstOnly: "Seuls les premiers résultats sont affichés. Lancez une recherche pour trouver les autres.",
    pages: "Pagination",
    older: "Page suivante",
    newest: "Revenir à la première page",
    actions: "Actions",
  },
  form: {
    save: "Enregistrer",
    cancel: "Annuler",
    optional: "facultatif",
    failed: "Rien n’est encore enregistré",
    faults: (count: number) => (count === 1 ? "Un champ est à revoir :" : `${count} champs sont à revoir :`),
    expired: "Cette page est restée ouverte trop longtemps",
    expiredText: "Rien n’a été modifié. Vérifiez votre saisie et envoyez-la de nouveau.",
    unreadable: "Une partie de ce formulaire est illisible",
    unreadableText:
      "Rien n’a été modifié. Les caractères qui ne sont pas du texte apparaissent maintenant sous la forme \uFFFD. Remplacez-les, puis envoyez de nouveau le formulaire.",
    isNow: (value: string) => `Valeur actuelle : ${value}`,
    isNowEmpty: "Ce champ est vide actuellement.",
  },
  already: "Rien n’a été modifié : c’était déjà le cas.",
  changed: {
    title: "Quelqu’un d’autre a modifié ceci avant vous",
    text: "L’élément a été modifié pendant que vous y travailliez. Vos modifications sont toujours là et ne sont pas enregistrées. Comparez-les aux valeurs actuelles, puis enregistrez de nouveau pour garder les vôtres.",
    by: (who: string, milliseconds: number) =>
      `Modifié par ${who} le ${formatMinute(LOCALE, milliseconds)} UTC.`,
    gone: "Cet élément n’existe plus",
    goneText: "Quelqu’un l’a supprimé pendant que vous y travailliez.",
  },
  sentBefore: {
    title: "Ce formulaire a déjà été envoyé",
    text: "Ce que vous vouliez a été fait la première fois, et n’a pas été répété. Ne le renvoyez que si vous voulez que ce soit fait une seconde fois.",
    look: "Vous le trouverez ici :",
    secret: {
      application:
        "Le secret du client a été montré une seule fois, dans la première réponse. Si vous ne l’avez pas gardé, ouvrez l’application et ajoutez un nouveau secret.",
      clientSecret:
        "Le secret a été montré une seule fois, dans la première réponse. Si vous ne l’avez pas gardé, mettez-y fin sur la page de l’application et créez-en un autre ici.",
      account:
        "La clé secrète a été montrée une seule fois, dans la première réponse. Si vous ne l’avez pas gardée, ouvrez le compte et ajoutez une nouvelle paire de clés.",
      keyPair:
        "La clé secrète a été montrée une seule fois, dans la première réponse. Si vous ne l’avez pas gardée, mettez fin à cette paire de clés sur la page du compte et créez-en une autre ici.",
      user: "Si un mot de passe a été créé, il a été montré une seule fois, dans la première réponse. Si vous ne l’avez pas gardé, ouvrez l’utilisateur et définissez-en un nouveau.",
      password:
        "Le nouveau mot de passe a été montré une seule fois, dans la première réponse. Si vous ne l’avez pas gardé, définissez-en un autre ici.",
      recoveryCodes:
        "Les nouveaux codes ont été montrés une seule fois, dans la première réponse. Si vous ne les avez pas gardés, créez-en de nouveaux ici.",
      code: "Le code a été montré une seule fois, dans la première réponse. Si vous ne l’avez pas gardé, retirez-le et créez-en un autre.",
      agent:
        "La clé d’API a été montrée une seule fois, dans la première réponse. Si vous ne l’avez pas gardée, désactivez cet agent et enregistrez-en un autre avec une nouvelle clé.",
    },
  },
  lastChange: (who: string, milliseconds: number) =>
    `Dernière modification par ${who} le ${formatMinute(LOCALE, milliseconds)} UTC`,
  actors: {
    operator: "l’exploitant",
    system: "Signet lui-même",
    systemAccount: "un compte de service",
    application: "une application",
    anonymous: "une personne inconnue",
    formerUser: "un ancien utilisateur",
  },
  actorsAlone: {
    operator: "L’exploitant",
    system: "Signet",
    systemAccount: "Un compte de service",
    application: "Une application",
    anonymous: "Une personne inconnue",
    formerUser: "Un ancien utilisateur",
  },
  prove: {
    title: "Confirmez que c’est bien vous",
    text: "Votre connexion est trop ancienne pour cette modification. Votre saisie reste sur cette page.",
    textSecrets:
      "Votre connexion est trop ancienne pour cette modification. Les mots de passe et les codes ne restent jamais sur une page : saisissez-les de nouveau ensuite. Le reste de votre saisie est conservé ici.",
    first: "Connectez-vous de nouveau. Un autre onglet s’ouvre ; revenez ici ensuite.",
    signIn: "Se connecter de nouveau",
    second: "Poursuivez ensuite votre modification.",
    goOn: "Continuer",
    confirmed: "C’est confirmé",
    confirmedText: "Fermez cet onglet et reprenez là où vous en étiez.",
  },
  secret: {
    once: "Vous ne reverrez plus cette valeur",
    copy: "Copier",
    copied: "Copié",
    done: "Je l’ai conservée",
  },
  confirm: {
    typeName: (name: string) => `Saisissez « ${name} » pour confirmer`,
    wrongName: "Ce n’est pas le texte demandé. Rien n’a été modifié.",
  },
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
  number: (count: number) => new Intl.NumberFormat(LOCALE).format(count),
  never: "Jamais",
  yes: "Oui",
  no: "Non",
};
