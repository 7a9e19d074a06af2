/** What is around every page of the console and of an account, and what all of them say alike. */
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "es";

export const frame = {
  skip: "Saltar al contenido",
  menu: "Menú",
  navigation: "Consola",
  breadcrumbs: "Ruta de navegación",
  switch: "Otras organizaciones",
  account: "Tu cuenta",
  signOut: "Cerrar sesión",
  sections: {
    applications: "Aplicaciones",
    people: "Personas",
    keys: "Claves y dispositivos",
    organisation: "Organización",
  },
  pages: {
    overview: "Resumen",
    quickstart: "Inicio rápido",
    applications: "Aplicaciones",
    scopes: "Scopes",
    consents: "Consentimientos",
    users: "Usuarios",
    systemAccounts: "Cuentas de sistema",
    signingKeys: "Claves de firma",
    pools: "Grupos de firma",
    devices: "Dispositivos",
    settings: "Ajustes",
    mailTemplates: "Plantillas de correo",
    auditLog: "Registro de auditoría",
  },
  accountPages: {
    profile: "Perfil",
    security: "Contraseña y seguridad",
    sessions: "Sesiones",
    consents: "Aplicaciones",
    activity: "Actividad",
    data: "Tus datos",
  },
  console: "Consola",
  list: {
    submit: "Buscar",
    all: "Mostrar todo",
    noneFound: "Sin resultados",
    noneFoundText: "Busca otra cosa, o muestra todo.",
    firstOnly: "Solo se muestran los primeros resultados. Busca para encontrar los demás.",
    pages: "Páginas",
    older: "Página siguiente",
    newest: "Volver a la primera página",
    actions: "Acciones",
  },
  form: {
    save: "Guardar",
    cancel: "Cancelar",
    optional: "opcional",
    failed: "Todavía no se ha guardado nada",
    faults: (count: number) =>
      count === 1 ? "Hay que revisar un campo:" : `Hay que revisar ${count} campos:`,
    expired: "Esta página ha estado abierta demasiado tiempo",
    expiredText: "No se ha cambiado nada. Revisa lo que has escrito y envíalo de nuevo.",
    unreadable: "No se ha podido leer una parte de este formulario",
    unreadableText:
      "No se ha cambiado nada. Los caracteres que no son texto aparecen ahora como \uFFFD. Sustitúyelos y envía el formulario de nuevo.",
    isNow: (value: string) => `Valor actual: ${value}`,
    isNowEmpty: "Ahora está vacío.",
  },
  already: "No se ha cambiado nada: ya era así.",
  changed: {
    title: "Otra persona lo ha cambiado antes",
    text: "El registro ha cambiado mientras trabajabas en él. Tus cambios siguen aquí y no se han guardado. Compáralos con los valores actuales y guarda de nuevo para conservar los tuyos.",
    by: (who: string, milliseconds: number) =>
      `Cambio de ${who} el ${formatMinute(LOCALE, milliseconds)} UTC.`,
    gone: "Este registro ya no existe",
    goneText: "Alguien lo ha eliminado mientras trabajabas en él.",
  },
  sentBefore: {
    title: "Este formulario ya se envió",
    text: "Lo que querías se hizo la primera vez y no se ha repetido. Envíalo de nuevo solo si quieres que se haga una segunda vez.",
    look: "Lo encuentras aquí:",
    secret: {
      application:
        "El secreto del cliente se mostró una sola vez, en la primera respuesta. Si no lo has guardado, abre la aplicación y añade un secreto nuevo.",
      clientSecret:
        "El secreto se mostró una sola vez, en la primera respuesta. Si no lo has guardado, revócalo en la página de la aplicación y crea otro aquí.",
      account:
        "La clave secreta se mostró una sola vez, en la primera respuesta. Si no la has guardado, abre la cuenta y añade un par de claves nuevo.",
      keyPair:
        "La clave secreta se mostró una sola vez, en la primera respuesta. Si no la has guardado, revoca ese par de claves en la página de la cuenta y crea otro aquí.",
      user: "Si se creó una contraseña, se mostró una sola vez, en la primera respuesta. Si no la has guardado, abre el usuario y establece una nueva.",
      password:
        "La contraseña nueva se mostró una sola vez, en la primera respuesta. Si no la has guardado, establece otra aquí.",
      recoveryCodes:
        "Los códigos nuevos se mostraron una sola vez, en la primera respuesta. Si no los has guardado, crea otros aquí.",
      code: "El código se mostró una sola vez, en la primera respuesta. Si no lo has guardado, retíralo y crea otro.",
      agent:
        "La clave de API se mostró una sola vez, en la primera respuesta. Si no la has guardado, desactiva ese agente y registra otro con una clave nueva.",
    },
  },
  lastChange: (who: string, milliseconds: number) =>
    `Último cambio de ${who} el ${formatMinute(LOCALE, milliseconds)} UTC`,
  actors: {
    operator: "el operador",
    system: "el propio Signet",
    systemAccount: "una cuenta de sistema",
    application: "una aplicación",
    anonymous: "alguien desconocido",
    formerUser: "un antiguo usuario",
  },
  actorsAlone: {
    operator: "El operador",
    system: "Signet",
    systemAccount: "Una cuenta de sistema",
    application: "Una aplicación",
    anonymous: "Alguien desconocido",
    formerUser: "Un antiguo usuario",
  },
  prove: {
    title: "Confirma que eres tú",
    text: "Tu inicio de sesión no es lo bastante reciente para este cambio. Lo que has escrito se conserva en esta página.",
    textSecrets:
      "Tu inicio de sesión no es lo bastante reciente para este cambio. Las contraseñas y los códigos nunca se conservan en una página: escríbelos de nuevo después. Lo demás que has escrito se conserva aquí.",
    first: "Vuelve a iniciar sesión. Se abre otra pestaña; después vuelve aquí.",
    signIn: "Volver a iniciar sesión",
    second: "Después, sigue con tu cambio.",
    goOn: "Continuar",
    confirmed: "Confirmado",
    confirmedText: "Cierra esta pestaña y continúa donde lo dejaste.",
  },
  secret: {
    once: "No volverás a ver esto",
    copy: "Copiar",
    copied: "Copiado",
    done: "Lo he guardado",
  },
  confirm: {
    typeName: (name: string) => `Escribe “${name}” para confirmar`,
    wrongName: "No coincide con lo que se pide. No se ha cambiado nada.",
  },
  day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
  minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
  number: (count: number) => new Intl.NumberFormat(LOCALE).format(count),
  never: "Nunca",
  yes: "Sí",
  no: "No",
};
