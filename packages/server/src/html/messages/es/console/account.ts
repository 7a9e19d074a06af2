/** The pages on which everybody looks after their own account. */
import { formatDay, formatDuration, formatMinute } from "../../format.ts";

const LOCALE = "es";

export const account = {
  profile: {
    title: "Perfil",
    summary: (organisation: string) => `Cómo te conocen ${organisation} y sus aplicaciones.`,
    personal: "Sobre ti",
    firstname: "Nombre",
    surname: "Apellidos",
    phone: "Número de teléfono",
    locale: "Idioma",
    localeHint: "De estas páginas, del inicio de sesión y de los correos que recibes.",
    asBrowser: "El de mi navegador",
    badName: "Un nombre tiene 100 caracteres como máximo y ningún salto de línea.",
    badPhone: "Un número de teléfono tiene de 3 a 32 cifras, espacios y signos como + ( ) / -.",
    badLocale: "Elige uno de la lista.",
    saved: "Tu perfil se ha guardado.",
    changedByYou: "Entretanto has cambiado tu perfil en otro sitio",
    changedByYouText: (milliseconds: number) =>
      `En otra ventana, el ${formatMinute(LOCALE, milliseconds)} UTC. Lo que has escrito sigue aquí y no se ha guardado. Compáralo con los valores actuales y guarda de nuevo para conservarlo.`,
    email: "Correo electrónico",
    emailText: "Con él inicias sesión, y ahí llegan los correos.",
    confirmed: "Confirmado",
    unconfirmed: "Sin confirmar",
    changeEmail: "Cambiar",
    membership: "Tu cuenta",
    organisation: "Organización",
    role: "Rol",
    roles: { Standard: "Miembro", Administrator: "Administrador" },
    username: "Nombre de usuario",
    permId: "Número de cuenta",
    since: "Miembro desde",
    guest: (organisation: string) => `Tu cuenta es de ${organisation}`,
    guestText: (organisation: string) =>
      `En ${organisation} eres un usuario invitado. Tu nombre, correo, contraseña e idioma se cambian en tu organización de origen.`,
    guestOpen: (organisation: string) => `Ir a tu cuenta de ${organisation}`,
  },
  address: {
    title: "Cambiar tu correo electrónico",
    text: (email: string) =>
      `Recibirás un correo con un enlace en la nueva dirección. Hasta que lo abras y confirmes, se mantiene ${email}.`,
    newEmail: "Nuevo correo electrónico",
    submit: "Enviar el correo",
    failed: "No se ha enviado ningún correo",
    invalid: "Esto no es un correo electrónico. Revísalo e inténtalo de nuevo.",
    same: "Ese es el correo que ya tienes.",
    limited: (seconds: number) =>
      `Ha habido demasiadas solicitudes. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
    sentTitle: "Mira tu correo",
    sent: (email: string) =>
      `Un correo con un enlace está en camino a ${email}, si la dirección está libre. El enlace sirve una vez, durante un día.`,
    back: "Volver a tu perfil",
  },
  password: {
    title: "Cambiar tu contraseña",
    titleFirst: "Establecer una contraseña",
    text: "Este navegador mantiene su sesión. Las demás sesiones de tu cuenta se cierran, y las aplicaciones pierden su acceso.",
    card: "Contraseña",
    there: (milliseconds: number) => `Establecida el ${formatDay(LOCALE, milliseconds)}`,
    none: "No tienes ninguna.",
    change: "Cambiar",
    set: "Establecer una",
    present: "Contraseña actual",
    next: "Nueva contraseña",
    submit: "Cambiar la contraseña",
    submitFirst: "Establecer esta contraseña",
    wrong: "Esa no es tu contraseña actual.",
    same: "Esa es la contraseña que ya tienes. Elige otra.",
    limited: (seconds: number) =>
      `Ha habido demasiadas contraseñas erróneas. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
    busy: (seconds: number) =>
      `Ahora mismo hay muchas personas iniciando sesión. Espera ${formatDuration(LOCALE, seconds)} y escríbela de nuevo; no tiene nada de malo.`,
    forgot: "¿La has olvidado? Recibe un enlace por correo",
    changed: "Tu contraseña se ha cambiado. Todas las demás sesiones se han cerrado.",
    notYou: "Impide el acceso a quien haya sido",
    notYouText:
      "Una contraseña nueva cierra de inmediato la sesión en los demás navegadores y aplicaciones. Revisa después tus segundos factores y elimina lo que no sea tuyo.",
  },
  protection: {
    title: "¿Está bien protegida tu cuenta?",
    passkey: "Muy bien: tienes una llave de acceso, que ninguna página falsa puede robar.",
    totp: "Bien: quien averigüe tu contraseña necesita además tu aplicación de autenticación. Una llave de acceso te protegería también de páginas falsas.",
    password: "Solo con una contraseña: quien la averigüe puede entrar. Añade un segundo factor.",
    guest: "Lo que protege tu cuenta se configura en la organización a la que pertenece.",
    fewCodes: (count: number) =>
      count === 1
        ? "Queda un código de recuperación. Crea otros mientras puedas."
        : `Quedan ${count} códigos de recuperación. Crea otros mientras puedas.`,
  },
  applications: {
    byOrganisation: "Permitidas por la organización",
    byOrganisationText: (organisation: string) =>
      `Usas estas aplicaciones, y ${organisation} ha decidido lo que pueden hacer. No te han preguntado.`,
    used: (milliseconds: number) => `Último inicio de sesión el ${formatDay(LOCALE, milliseconds)}`,
  },
  activity: {
    title: "Actividad",
    summary: (organisation: string) =>
      `Lo que ha pasado con tu cuenta de ${organisation}, lo más reciente primero. Las horas están en UTC.`,
    none: "Todavía no ha pasado nada.",
    what: "Qué",
    when: "Cuándo",
    by: "Quién",
    from: "Desde dónde",
    you: "tú",
    administrator: "la administración",
    notYou: "¿Algo de esto no fuiste tú?",
    notYouText: "Establece ahora una contraseña nueva. Cierra todas las demás sesiones.",
    notYouAct: "No fui yo",
  },
  data: {
    title: "Tus datos",
    summary: (organisation: string) => `Lo que ${organisation} guarda aquí sobre ti, y cómo eliminarlo.`,
    export: "Descargar tus datos",
    exportText:
      "Un archivo (JSON) con todo lo que se guarda sobre ti: perfil, pertenencias, segundos factores sin sus secretos, sesiones, aplicaciones y lo que ha pasado. No contiene nada de otras personas.",
    exportAct: "Descargar",
    limited: (seconds: number) =>
      `Lo has descargado varias veces. Espera ${formatDuration(LOCALE, seconds)} e inténtalo de nuevo.`,
    notExported: "No se ha creado ningún archivo",
    remove: "Eliminar tu cuenta",
    removeText: "Tu cuenta se elimina con todo lo que se guarda sobre ti. No se puede deshacer.",
    removeForbidden: (organisation: string) =>
      `En ${organisation} solo la administración elimina cuentas. Habla con ella.`,
    removeAct: "Eliminar mi cuenta",
    leave: (organisation: string) => `Salir de ${organisation}`,
    leaveText: (organisation: string) =>
      `Lo que ${organisation} guarda sobre ti se elimina. Tu cuenta de origen queda como está.`,
    leaveAct: "Salir",
  },
  deletion: {
    title: "¿Eliminar tu cuenta?",
    effects: [
      "Se cierra tu sesión en todas partes, y se avisa a las aplicaciones.",
      "Tu perfil, contraseña, segundos factores, consentimientos y ajustes se eliminan, también donde eres invitado.",
      "Lo que las aplicaciones hayan guardado sobre ti se queda en ellas.",
      "El registro de auditoría conserva lo que pasó, con tu número de cuenta y sin tu nombre.",
      "Nadie puede recuperar la cuenta.",
    ],
    confirm: "Eliminar mi cuenta para siempre",
    failed: "Tu cuenta no se ha eliminado",
    lastAdministrator: "No hay ningún otro administrador",
    lastAdministratorText: (organisation: string) =>
      `Nadie podría ocuparse ya de ${organisation}. Da antes ese rol a otra persona.`,
    leaveTitle: (organisation: string) => `¿Salir de ${organisation}?`,
    leaveText: (organisation: string) =>
      `Se cierra tu sesión en ${organisation} y sus aplicaciones, y se elimina lo que se guarda allí sobre ti. Tu cuenta de origen se conserva. Para volver tendrán que invitarte de nuevo.`,
    leaveConfirm: "Salir",
    goneTitle: "Tu cuenta se ha eliminado",
    gone: "Se ha cerrado tu sesión en todas partes, y las aplicaciones lo saben.",
    leftTitle: (organisation: string) => `Has salido de ${organisation}`,
    left: "Tu cuenta de origen está como estaba.",
  },
  moment: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
};
