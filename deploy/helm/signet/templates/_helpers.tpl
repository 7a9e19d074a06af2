{{- /* A Service `signet-x` gives every pod of the namespace variables SIGNET_X_…, which might be settings. Hence `…-web`, and
no links in the chart's own pods. */ -}}
{{- define "signet.name" -}}
{{- $name := default .Release.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- if contains "signet" $name }}{{ $name }}{{ else }}{{ printf "%s-signet" $name }}{{ end -}}
{{- end -}}

{{- define "signet.selector" -}}
app.kubernetes.io/name: signet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "signet.labels" -}}
{{ include "signet.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "signet.serviceAccount" -}}
{{ default (include "signet.name" .) .Values.serviceAccount.name }}
{{- end -}}

{{- define "signet.image" -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end -}}

{{- define "signet.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
# For a dataVolume that belongs to root.
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "signet.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "signet.environment" -}}
- { name: SIGNET_BASE_URL, value: {{ .Values.baseUrl | quote }} }
- { name: HOST, value: {{ .Values.listenHost | quote }} }
- { name: PORT, value: "8080" }
- { name: SIGNET_DATA_DIR, value: /var/lib/signet/data }
- { name: LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
- { name: SIGNET_WORKERS, value: {{ .Values.workers | quote }} }
- { name: SIGNET_DATABASE_POOL, value: {{ .Values.databasePool | quote }} }
- { name: SIGNET_DRAIN_SECONDS, value: {{ .Values.drainSeconds | quote }} }
- { name: TRUSTED_PROXIES, value: {{ join "," .Values.trustedProxies | quote }} }
- { name: SIGNET_MASTER_KEY_FILE, value: /run/secrets/signet/master-key }
- { name: DATABASE_URL_FILE, value: /run/secrets/signet/database-url }
{{- with .Values.secrets.masterKeyPrevious }}{{ if .secret }}
- { name: SIGNET_MASTER_KEY_PREVIOUS_FILE, value: /run/secrets/signet/master-key-previous }
{{- end }}{{ end }}
{{- with .Values.secrets.auditStream }}{{ if .secret }}
- { name: SIGNET_AUDIT_STREAM_FILE, value: /run/secrets/signet/audit-stream }
{{- end }}{{ end }}
{{- with .Values.secrets.databaseListen }}{{ if .secret }}
- { name: SIGNET_DATABASE_LISTEN_URL_FILE, value: /run/secrets/signet/database-listen-url }
{{- end }}{{ end }}
{{- with .Values.secrets.databaseReplica }}{{ if .secret }}
- { name: SIGNET_DATABASE_REPLICA_URL_FILE, value: /run/secrets/signet/database-replica-url }
{{- end }}{{ end }}
{{- if .Values.secrets.smtp.secret }}
- { name: SMTP_URL_FILE, value: /run/secrets/signet/smtp-url }
- { name: SIGNET_MAIL_FROM, value: {{ .Values.mailFrom | quote }} }
{{- end }}
{{- if .Values.metrics.enabled }}
- { name: SIGNET_METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
- { name: SIGNET_METRICS_HOST, value: {{ .Values.listenHost | quote }} }
{{- end }}
{{- if .Values.deviceTls.enabled }}
- { name: SIGNET_MTLS_PORT, value: "8443" }
- { name: SIGNET_MTLS_HOST, value: {{ .Values.listenHost | quote }} }
- { name: SIGNET_MTLS_CERT_FILE, value: /run/secrets/signet-device-tls/tls.crt }
- { name: SIGNET_MTLS_KEY_FILE, value: /run/secrets/signet-device-tls/tls.key }
- { name: SIGNET_MTLS_BASE_URL, value: {{ .Values.deviceTls.baseUrl | quote }} }
{{- end }}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end -}}

{{- define "signet.mounts" -}}
- { name: secrets, mountPath: /run/secrets/signet, readOnly: true }
- { name: data, mountPath: /var/lib/signet }
- { name: tmp, mountPath: /tmp }
{{- if .Values.deviceTls.enabled }}
- { name: device-tls, mountPath: /run/secrets/signet-device-tls, readOnly: true }
{{- end }}
{{- end -}}

{{- define "signet.volumes" -}}
- name: secrets
  projected:
    # Root's, and readable inside the pod alone.
    defaultMode: 0444
    sources:
      - secret: { name: {{ .Values.secrets.masterKey.secret }}, items: [{ key: {{ .Values.secrets.masterKey.key }}, path: master-key }] }
      - secret: { name: {{ .Values.secrets.database.secret }}, items: [{ key: {{ .Values.secrets.database.key }}, path: database-url }] }
      {{- with .Values.secrets.masterKeyPrevious }}{{ if .secret }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: master-key-previous }] }
      {{- end }}{{ end }}
      {{- with .Values.secrets.auditStream }}{{ if .secret }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: audit-stream }] }
      {{- end }}{{ end }}
      {{- with .Values.secrets.databaseListen }}{{ if .secret }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: database-listen-url }] }
      {{- end }}{{ end }}
      {{- with .Values.secrets.databaseReplica }}{{ if .secret }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: database-replica-url }] }
      {{- end }}{{ end }}
      {{- with .Values.secrets.smtp }}{{ if .secret }}
      - secret: { name: {{ .secret }}, items: [{ key: {{ .key }}, path: smtp-url }] }
      {{- end }}{{ end }}
- name: data
  {{- toYaml (default (dict "emptyDir" dict) .dataVolume) | nindent 2 }}
- name: tmp
  emptyDir: { medium: Memory, sizeLimit: 16Mi }
{{- if .Values.deviceTls.enabled }}
- name: device-tls
  secret: { secretName: {{ .Values.deviceTls.secret }}, defaultMode: 0444 }
{{- end }}
{{- end -}}
