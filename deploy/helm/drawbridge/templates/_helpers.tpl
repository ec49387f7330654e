{{- define "drawbridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* 52 characters: the longest name made of it, with -metrics behind, stays below 63. */}}
{{- define "drawbridge.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "drawbridge.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "drawbridge.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "drawbridge.selector" -}}
app.kubernetes.io/name: {{ include "drawbridge.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The pod of helm test, which no Service must select. */}}
{{- define "drawbridge.testSelector" -}}
app.kubernetes.io/name: {{ include "drawbridge.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "drawbridge.labels" -}}
{{ include "drawbridge.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "drawbridge.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "drawbridge.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "drawbridge.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* A duration of Go ("1m30s") in whole seconds, rounded up. */}}
{{- define "drawbridge.seconds" -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|h|m|s)" (toString .) -1 -}}
{{- $unit := get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0) (regexFind "[a-z]+$" .) -}}
{{- $sum = addf $sum (mulf (regexFind "^[0-9.]+" . | float64) $unit) -}}
{{- end -}}
{{- ceil $sum | int -}}
{{- end -}}

{{/* What the gateway may take to end: after the drain a second for the last answers, 5 for the lines of the audit log, 5 for spans, and some to spare. */}}
{{- define "drawbridge.ending" -}}
{{- $server := dig "server" dict (.Values.config | default dict) -}}
{{- $delay := include "drawbridge.seconds" ($server.shutdown_delay | default "5s") | int -}}
{{- $drain := include "drawbridge.seconds" ($server.drain_timeout | default "25s") | int -}}
{{- add $delay $drain 15 -}}
{{- end -}}

{{- define "drawbridge.grace" -}}
{{- .Values.terminationGracePeriodSeconds | default (include "drawbridge.ending" .) | int -}}
{{- end -}}

{{- define "drawbridge.publicPort" -}}
{{- dig "server" "listen" "0.0.0.0:8080" (.Values.config | default dict) | toString | regexFind "[0-9]+$" -}}
{{- end -}}

{{- define "drawbridge.adminPort" -}}
{{- dig "admin" "listen" "0.0.0.0:9090" (.Values.config | default dict) | toString | regexFind "[0-9]+$" -}}
{{- end -}}

{{- define "drawbridge.scheme" -}}
{{- ternary "https" "http" (not (empty (dig "server" "tls" "" (.Values.config | default dict)))) -}}
{{- end -}}

{{/* A quantity of memory in bytes. */}}
{{- define "drawbridge.bytes" -}}
{{- $unit := get (dict "" 1 "k" 1000 "Ki" 1024 "M" 1000000 "Mi" 1048576 "G" 1000000000 "Gi" 1073741824) (regexFind "[A-Za-z]*$" (toString .)) -}}
{{- mul (regexFind "^[0-9]+" (toString .) | int64) $unit -}}
{{- end -}}

{{/* Whether there can be more than one pod: "true" or nothing. */}}
{{- define "drawbridge.many" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) }}true{{ end -}}
{{- end -}}

{{/* The ConfigMap with drawbridge.yaml. */}}
{{- define "drawbridge.configMap" -}}
{{- .Values.existingConfigMap | default (include "drawbridge.fullname" .) -}}
{{- end -}}

{{- define "drawbridge.secretVolume" -}}
{{- printf "secret-%s" . | replace "." "-" | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The security context of the program's containers. */}}
{{- define "drawbridge.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Which Services the gateway watches with its service account: whether it does, whether in all namespaces, and else in which. */}}
{{- define "drawbridge.watches" -}}
{{- $watches := false -}}
{{- $all := false -}}
{{- $namespaces := list -}}
{{- range dig "discovery" list (.Values.config | default dict) -}}
{{- if and (hasKey . "kubernetes") (not (dig "kubeconfig" "" (.kubernetes | default dict))) -}}
{{- $watches = true -}}
{{- $named := dig "namespaces" list (.kubernetes | default dict) -}}
{{- $all = or $all (empty $named) -}}
{{- $namespaces = concat $namespaces $named -}}
{{- end -}}
{{- end -}}
{{- dict "watches" $watches "all" $all "namespaces" ($namespaces | uniq | sortAlpha) | toYaml -}}
{{- end -}}

{{/* Releases of several namespaces have roles beside each other, of the cluster and in the namespaces of services. */}}
{{- define "drawbridge.role" -}}
{{- printf "%s-%s" .Release.Namespace (include "drawbridge.fullname" .) -}}
{{- end -}}

{{/* The rights to watch Services and their endpoints. */}}
{{- define "drawbridge.rules" -}}
- {apiGroups: [""], resources: [services], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
{{- end -}}

{{/* A digest of what changes with a restart only (the keys with reload:"restart" in package config, which a test compares). */}}
{{- define "drawbridge.restart" -}}
{{- $c := .Values.config | default (dict "server" dict "admin" dict) -}}
{{- dict "server" (pick $c.server "listen" "tls" "old_transport" "state_dir") "admin" (pick $c.admin "listen") "limits" (pick ($c.limits | default dict) "max_header") "telemetry" (pick ($c.telemetry | default dict) "otlp_endpoint" "otlp_signals" "proxy" "log_format") "state" $c.state "audit" $c.audit "files" $c.files | toJson | sha256sum -}}
{{- end -}}
