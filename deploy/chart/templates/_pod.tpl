{{- define "sluice.labels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Takes (the chart, the component). */ -}}
{{- define "sluice.selector" -}}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "sluice.secret" -}}
{{ .Values.secret.name | default .Release.Name }}
{{- end }}

{{- /* What every container has. */ -}}
{{- define "sluice.container" -}}
image: {{ .Values.image.repository }}:{{ .Chart.AppVersion }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: home, mountPath: /var/lib/sluice}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- /* What every pod has. A change of its files starts it again. */ -}}
{{- define "sluice.annotations" -}}
checksum/config: {{ .Values.config | toJson | sha256sum }}
checksum/secret: {{ .Values.secret | toJson | sha256sum }}
{{- end }}

{{- define "sluice.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 50000
  runAsGroup: 50000
  fsGroup: 50000
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: config, configMap: {name: {{ .Release.Name }}}}
  - {name: secrets, secret: {secretName: {{ include "sluice.secret" . }}}}
  {{- if .Values.homeClaim }}
  - {name: home, persistentVolumeClaim: {claimName: {{ .Values.homeClaim }}}}
  {{- else }}
  - {name: home, emptyDir: {}}
  {{- end }}
  - {name: tmp, emptyDir: {}}
{{- end }}
