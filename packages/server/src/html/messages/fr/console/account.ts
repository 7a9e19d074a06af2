/** The pages on which everybody looks after their own account. */
import { formatDay, formatDuration, formatMinute } from "../../format.ts";

const LOCALE = "fr";

export const account = {
  profile: {
    title: "Profil",
    summary: (organisation: string) =>
      `Ce que l’organisation ${organisation} et ses applications savent de vous.`,
    personal: "À propos de vous",
    firstname: "Prénom",
    surname: "Nom",
    phone: "Numéro de téléphone",
    locale: "Langue",
    localeHint: "Pour ces pages, la connexion et les e‑mails que vous recevez.",
    asBrowser: "Celle de mon navigateur",
    badName: "Un nom comporte au plus 100 caractères, sans retour à la ligne.",
    badPhone: "Un numéro de téléphone comporte de 3 à 32 chiffres, espaces et signes tels que + ( ) / -.",
    badLocale: "Choisissez une langue de la liste.",
    saved: "Votre profil est enregistré.",
    changedByYou: "Vous avez modifié votre profil ailleurs entre-temps",
    changedByYouText: (milliseconds: number) =>
      `Dans une autre fenêtre, le ${formatMinute(LOCALE, milliseconds)} UTC. Votre saisie est toujours là et n’est pas enregistrée. Comparez-la aux valeurs actuelles, puis enregistrez de nouveau pour la garder.`,
    email: "Adresse e‑mail",
    emailText: "Elle vous sert à vous connecter, et les e‑mails y sont envoyés.",
    confirmed: "Confirmée",
    unconfirmed: "Non confirmée",
    changeEmail: "Modifier",
    membership: "Votre compte",
    organisation: "Organisation",
    role: "Rôle",
    roles: { Standard: "Membre", Administrator: "Administrateur" },
    username: "Nom d’utilisateur",
    permId: "Numéro de compte",
    since: "Membre depuis",
    guest: (organisation: string) => `Votre compte appartient à l’organisation ${organisation}`,
    guestText: (organisation: string) =>
      `Chez ${organisation}, vous êtes invité. Votre nom, votre adresse, votre mot de passe et votre langue se modifient dans votre organisation d’origine.`,
    guestOpen: (organisation: string) => `Ouvrir votre compte ${organisation}`,
  },
  address: {
    title: "Modifier votre adresse e‑mail",
    text: (email: string) =>
      `Vous recevrez un e‑mail avec un lien à la nouvelle adresse. Tant que vous ne l’avez pas confirmée, ${email} reste en usage.`,
    newEmail: "Nouvelle adresse e‑mail",
    submit: "Envoyer l’e‑mail",
    failed: "Aucun e‑mail n’a été envoyé",
    invalid: "Ce n’est pas une adresse e‑mail. Vérifiez-la et réessayez.",
    same: "C’est l’adresse que vous avez déjà.",
    limited: (seconds: number) =>
      `Il y a eu trop de demandes. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
    sentTitle: "Consultez vos e‑mails",
    sent: (email: string) =>
      `Un e‑mail avec un lien est en route vers ${email}, si l’adresse est libre. Le lien fonctionne une fois, pendant un jour.`,
    back: "Revenir au profil",
  },
  password: {
    title: "Modifier votre mot de passe",
    titleFirst: "Définir un mot de passe",
    text: "Ce navigateur reste connecté. Tout ce qui est connecté ailleurs à votre compte est déconnecté, et les applications perdent leur accès.",
    card: "Mot de passe",
    there: (milliseconds: number) => `Défini le ${formatDay(LOCALE, milliseconds)}`,
    none: "Vous n’en avez pas.",
    change: "Modifier",
    set: "En définir un",
    present: "Mot de passe actuel",
    next: "Nouveau mot de passe",
    submit: "Modifier le mot de passe",
    submitFirst: "Définir ce mot de passe",
    wrong: "Ce n’est pas votre mot de passe actuel.",
    same: "C’est le mot de passe que vous avez déjà. Choisissez-en un autre.",
    limited: (seconds: number) =>
      `Il y a eu trop de mots de passe erronés. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
    busy: (seconds: number) =>
      `Beaucoup de personnes se connectent en ce moment. Attendez ${formatDuration(LOCALE, seconds)}, puis saisissez-le de nouveau ; il n’a rien d’incorrect.`,
    forgot: "Vous l’avez oublié ? Recevoir un lien par e‑mail",
    changed: "Votre mot de passe est modifié. Tout le reste est déconnecté.",
    notYou: "Fermez l’accès à cette personne",
    notYouText:
      "Un nouveau mot de passe déconnecte aussitôt tous les autres navigateurs et applications. Vérifiez ensuite vos seconds facteurs : supprimez ceux qui ne sont pas à vous.",
  },
  protection: {
    title: "Votre compte est-il bien protégé ?",
    passkey: "Très bien : vous avez une clé d’accès, qu’aucune fausse page ne peut voler.",
    totp: "Bien : qui découvre votre mot de passe a encore besoin de votre application d’authentification. Une clé d’accès vous protégerait aussi des fausses pages de connexion.",
    password: "Par un mot de passe seulement : qui le découvre peut entrer. Ajoutez un second facteur.",
    guest: "Ce qui protège votre compte se règle dans l’organisation à laquelle il appartient.",
    fewCodes: (count: number) =>
      count === 1
        ? "Il reste un code de récupération. Créez-en de nouveaux tant que c’est possible."
        : `Il reste ${count} codes de récupération. Créez-en de nouveaux tant que c’est possible.`,
  },
  applications: {
    byOrganisation: "Autorisées par l’organisation",
    byOrganisationText: (organisation: string) =>
      `Vous utilisez ces applications, et l’organisation ${organisation} a décidé de leurs droits. Vous n’avez pas été consulté.`,
    used: (milliseconds: number) => `Dernière connexion le ${formatDay(LOCALE, milliseconds)}`,
  },
  activity: {
    title: "Activité",
    summary: (organisation: string) =>
      `Ce qui s’est passé avec votre compte ${organisation}, du plus récent au plus ancien. Les heures sont en UTC.`,
    none: "Il ne s’est encore rien passé.",
    what: "Quoi",
    when: "Quand",
    by: "Par",
    from: "D’où",
    you: "vous",
    administrator: "un administrateur",
    notYou: "L’une de ces actions n’était pas de vous ?",
    notYouText: "Définissez alors un nouveau mot de passe. Il déconnecte tout le reste.",
    notYouAct: "Ce n’était pas moi",
  },
  data: {
    title: "Vos données",
    summary: (organisation: string) =>
      `Ce que l’organisation ${organisation} conserve ici sur vous, et comment le supprimer.`,
    export: "Télécharger vos données",
    exportText:
      "Un fichier (JSON) avec tout ce qui est conservé sur vous : profil, appartenances, seconds facteurs sans leurs secrets, sessions, applications et ce qui s’est passé. Personne d’autre n’y figure.",
    exportAct: "Télécharger",
    limited: (seconds: number) =>
      `Vous l’avez téléchargé plusieurs fois. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
    notExported: "Aucun fichier n’a été créé",
    remove: "Supprimer votre compte",
    removeText: "Votre compte disparaît avec tout ce qui est conservé sur vous. C’est irréversible.",
    removeForbidden: (organisation: string) =>
      `Chez ${organisation}, seuls les administrateurs suppriment des comptes. Adressez-vous à l’un d’eux.`,
    removeAct: "Supprimer mon compte",
    leave: (organisation: string) => `Quitter ${organisation}`,
    leaveText: (organisation: string) =>
      `Ce que l’organisation ${organisation} conserve sur vous est supprimé. Votre compte dans votre organisation d’origine reste tel quel.`,
    leaveAct: "Quitter",
  },
  deletion: {
    title: "Supprimer votre compte ?",
    effects: [
      "Vous êtes déconnecté partout, et les applications en sont informées.",
      "Votre profil, votre mot de passe, vos seconds facteurs, consentements et réglages sont supprimés, y compris là où vous êtes invité.",
      "Ce que les applications ont conservé elles-mêmes sur vous reste chez elles.",
      "Le journal d’audit garde ce qui s’est passé, sous votre numéro de compte et sans votre nom.",
      "Personne ne peut rétablir le compte.",
    ],
    confirm: "Supprimer définitivement mon compte",
    failed: "Votre compte n’a pas été supprimé",
    lastAdministrator: "Vous êtes le seul administrateur",
    lastAdministratorText: (organisation: string) =>
      `Plus personne ne pourrait s’occuper de l’organisation ${organisation}. Nommez d’abord un autre administrateur.`,
    leaveTitle: (organisation: string) => `Quitter ${organisation} ?`,
    leaveText: (organisation: string) =>
      `Vous êtes déconnecté de l’organisation ${organisation} et de ses applications, et ce qui y est conservé sur vous est supprimé. Votre compte d’origine reste. Pour revenir, il faudra une nouvelle invitation.`,
    leaveConfirm: "Quitter",
    goneTitle: "Votre compte est supprimé",
    gone: "Vous êtes déconnecté partout, et les applications en sont informées.",
    leftTitle: (organisation: string) => `Vous avez quitté ${organisation}`,
    left: "Votre compte d’origine est inchangé.",
  },
  moment: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
};
