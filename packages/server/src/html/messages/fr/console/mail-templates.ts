/** Les e‑mails que le service envoie, à regarder. */
import type { Messages } from "../../en/en.ts";
import { formatDuration } from "../../format.ts";

const LOCALE = "fr";

export const mailTemplates: Messages["console"]["mailTemplates"] = {
  summary: (organisation) =>
    `Tous les e‑mails envoyés au nom de ${organisation}, tels que leurs lecteurs les voient.`,
  sending: "Envoi",
  sendingText: "L’envoi d’e‑mails est configuré pour tout le serveur, par son exploitant.",
  state: "État",
  kinds: {
    smtp: "Les e‑mails sont envoyés",
    mailbox: "Démo : les e‑mails vont à la page de la boîte",
    none: "L’envoi d’e‑mails n’est pas configuré",
  },
  noneText:
    "Personne ne reçoit d’e‑mail : les invitations, les nouveaux mots de passe et les confirmations d’adresse ne fonctionnent pas. L’exploitant définit SMTP_URL et SIGNET_MAIL_FROM.",
  sender: "Expéditeur",
  server: "Serveur d’e‑mail",
  list: "Tous les e‑mails",
  columns: { mail: "E‑mail", when: "Quand il est envoyé" },
  subject: "Objet",
  from: "De",
  language: "Langue",
  show: "Afficher",
  preview: "Aperçu",
  html: "En HTML",
  htmlFrame: "L’e‑mail en HTML",
  text: "En texte",
  sample: "Les valeurs sont des exemples. Les couleurs et le nom sont ceux de l’organisation.",
  test: "Vous envoyer un essai",
  testText: (email) => `Un essai part à ${email}. Il indique que c’est un essai, et son bouton ne fait rien.`,
  testSubmit: "M’envoyer un essai",
  names: {
    AcceptInvitation: "Invitation",
    VerifyEmail: "Confirmer une adresse",
    AccountExists: "Il y a déjà un compte",
    ResetPassword: "Définir un nouveau mot de passe",
    PasswordChanged: "Le mot de passe a changé",
    ChangeEmail: "Confirmer une nouvelle adresse",
    EmailChanged: "L’adresse a changé",
    AcceptRoaming: "Utiliser un compte ici aussi",
    NewSignIn: "Nouvelle connexion",
    FactorAdded: "Un second facteur a été ajouté",
    FactorRemoved: "Un second facteur a été retiré",
    AccountDeleted: "Le compte a été supprimé",
  },
  when: {
    AcceptInvitation: "Un administrateur invite quelqu’un.",
    VerifyEmail: "Quelqu’un s’inscrit, ou doit montrer qu’une adresse est la sienne.",
    AccountExists: "Quelqu’un s’inscrit avec une adresse qui a déjà un compte.",
    ResetPassword: "Quelqu’un a oublié le mot de passe.",
    PasswordChanged: "Un mot de passe a été défini, par l’utilisateur ou par un administrateur.",
    ChangeEmail: "Un compte change d’adresse ; l’e‑mail va à la nouvelle.",
    EmailChanged: "Un compte a changé d’adresse ; l’e‑mail va à l’ancienne.",
    AcceptRoaming: "Un utilisateur d’une autre organisation est invité à utiliser son compte ici.",
    NewSignIn: "Quelqu’un se connecte avec un navigateur encore jamais utilisé pour le compte.",
    FactorAdded:
      "Une application d’authentification, une clé d’accès ou des codes de récupération ont été ajoutés.",
    FactorRemoved: "L’un d’eux a été retiré.",
    AccountDeleted: "Un compte a été supprimé.",
  },
  done: { sent: "L’essai est en route vers vous." },
  notSent: "Aucun essai n’a été envoyé",
  limited: (seconds) => `Il y a eu trop d’essais. Réessayez dans ${formatDuration(LOCALE, seconds)}.`,
  notSetUp: "L’envoi d’e‑mails n’est pas configuré.",
};
