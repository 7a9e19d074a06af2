/** Los correos que envía el servicio, para verlos. */
import type { Messages } from "../../en/en.ts";
import { formatDuration } from "../../format.ts";

const LOCALE = "es";

export const mailTemplates: Messages["console"]["mailTemplates"] = {
  summary: (organisation) =>
    `Todos los correos que se envían en nombre de ${organisation}, tal como los ven sus lectores.`,
  sending: "Envío",
  sendingText: "El correo se configura para todo el servidor; lo hace quien lo opera.",
  state: "Estado",
  kinds: {
    smtp: "Los correos se envían",
    mailbox: "Demo: los correos van a la página del buzón",
    none: "El correo no está configurado",
  },
  noneText:
    "Nadie recibe correos: no funcionan las invitaciones, las contraseñas nuevas ni las confirmaciones de direcciones. Quien opera el servidor define SMTP_URL y SIGNET_MAIL_FROM.",
  sender: "Remitente",
  server: "Servidor de correo",
  list: "Todos los correos",
  columns: { mail: "Correo", when: "Cuándo se envía" },
  subject: "Asunto",
  from: "De",
  language: "Idioma",
  show: "Mostrar",
  preview: "Vista previa",
  html: "Como HTML",
  htmlFrame: "El correo como HTML",
  text: "Como texto",
  sample: "Los valores son ejemplos. Los colores y el nombre son los de la organización.",
  test: "Enviártelo a ti",
  testText: (email) => `Se envía una prueba a ${email}. Dice que es una prueba, y su botón no hace nada.`,
  testSubmit: "Enviarme una prueba",
  names: {
    AcceptInvitation: "Invitación",
    VerifyEmail: "Confirmar una dirección",
    AccountExists: "Ya hay una cuenta",
    ResetPassword: "Establecer una contraseña nueva",
    PasswordChanged: "Contraseña cambiada",
    ChangeEmail: "Confirmar una dirección nueva",
    EmailChanged: "Dirección cambiada",
    AcceptRoaming: "Usar una cuenta también aquí",
    NewSignIn: "Nuevo inicio de sesión",
    FactorAdded: "Se añadió un segundo factor",
    FactorRemoved: "Se quitó un segundo factor",
    AccountDeleted: "Cuenta eliminada",
  },
  when: {
    AcceptInvitation: "Un administrador invita a alguien.",
    VerifyEmail: "Alguien se registra o tiene que demostrar que una dirección es suya.",
    AccountExists: "Alguien se registra con una dirección que ya tiene cuenta.",
    ResetPassword: "Alguien ha olvidado la contraseña.",
    PasswordChanged: "Se estableció una contraseña, por el usuario o por un administrador.",
    ChangeEmail: "Una cuenta cambia de dirección; el correo va a la nueva.",
    EmailChanged: "Una cuenta ha cambiado de dirección; el correo va a la antigua.",
    AcceptRoaming: "Se pide a un usuario de otra organización que use aquí su cuenta.",
    NewSignIn: "Alguien inicia sesión con un navegador que no se había usado para la cuenta.",
    FactorAdded: "Se añadió una aplicación de autenticación, una llave de acceso o códigos de recuperación.",
    FactorRemoved: "Se quitó uno de ellos.",
    AccountDeleted: "Se eliminó una cuenta.",
  },
  done: { sent: "La prueba está en camino." },
  notSent: "No se envió ninguna prueba",
  limited: (seconds) => `Hubo demasiadas pruebas. Inténtalo de nuevo en ${formatDuration(LOCALE, seconds)}.`,
  notSetUp: "El correo no está configurado.",
};
