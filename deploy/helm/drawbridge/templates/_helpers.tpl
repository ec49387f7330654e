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
{{- $server := .Values.config.server | default dict -}}
{{- $delay := include "drawbridge.seconds" ($server.shutdown_delay | default "5s") | int -}}
{{- $drain := include "drawbridge.seconds" ($server.drain_timeout | default "25s") | int -}}
{{- add $delay $drain 15 -}}
{{- end -}}

{{- define "drawbridge.grace" -}}
{{- $needed := include "drawbridge.ending" . | int -}}
{{- $given := .Values.terminationGracePeriodSeconds -}}
{{- if kindIs "invalid" $given -}}
{{- $needed -}}
{{- else if lt (int $given) $needed -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, and config.server.shutdown_delay and drain_timeout with 15 s for what is written at the end are %d: calls would be cut" (int $given) $needed) -}}
{{- else -}}
{{- int $given -}}
{{- end -}}
{{- end -}}

{{/* The port of an address such as 0.0.0.0:8080 that is not loopback. Takes a list: the key, the address. */}}
{{- define "drawbridge.port" -}}
{{- $key := index . 0 -}}
{{- $address := toString (index . 1) -}}
{{- if not (regexMatch ":[0-9]+$" $address) -}}
{{- fail (printf "config.%s is %q: it needs a port, as in 0.0.0.0:8080" $key $address) -}}
{{- end -}}
{{- if regexMatch "^(127\\.|localhost:|\\[::1\\])" $address -}}
{{- fail (printf "config.%s is %q, which nothing outside of the pod reaches: write 0.0.0.0 and the port" $key $address) -}}
{{- end -}}
{{- regexFind "[0-9]+$" $address -}}
{{- end -}}

{{- define "drawbridge.publicPort" -}}
{{- include "drawbridge.port" (list "server.listen" (dig "server" "listen" "" .Values.config)) -}}
{{- end -}}

{{- define "drawbridge.adminPort" -}}
{{- include "drawbridge.port" (list "admin.listen" (dig "admin" "listen" "" .Values.config)) -}}
{{- end -}}

{{- define "drawbridge.scheme" -}}
{{- ternary "https" "http" (not (empty (dig "server" "tls" "" .Values.config))) -}}
{{- end -}}

{{/* A quantity of memory in bytes. */}}
{{- define "drawbridge.bytes" -}}
{{- $text := toString . -}}
{{- if not (regexMatch "^[0-9]+(Ki|Mi|Gi|k|M|G)?$" $text) -}}
{{- fail (printf "resources.limits.memory is %q: write whole numbers of Ki, Mi, Gi, k, M or G, as in 256Mi" $text) -}}
{{- end -}}
{{- $unit := get (dict "" 1 "k" 1000 "Ki" 1024 "M" 1000000 "Mi" 1048576 "G" 1000000000 "Gi" 1073741824) (regexFind "[A-Za-z]*$" $text) -}}
{{- mul (regexFind "^[0-9]+" $text | int64) $unit -}}
{{- end -}}

{{/* Which Services the gateway watches with its service account: whether it does, whether in all namespaces, and else in which. */}}
{{- define "drawbridge.watches" -}}
{{- $watches := false -}}
{{- $all := false -}}
{{- $namespaces := list -}}
{{- range .Values.config.discovery -}}
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

{{/* What can be known to be wrong before anything is installed. */}}
{{- define "drawbridge.check" -}}
{{- $repository := required "image.repository is not set: name the repository of your registry that holds the image, as in --set image.repository=registry.example.com/platform/drawbridge (make image builds the image, RELEASE.md says how to push it)" .Values.image.repository -}}
{{- if regexMatch "[:@][^/]*$" $repository -}}
{{- fail (printf "image.repository is %q: write a tag to image.tag and a digest to image.digest" $repository) -}}
{{- end -}}
{{- if not (or .Values.config.apis .Values.config.discovery) -}}
{{- fail "config.apis is empty: name at least one OpenAPI document, as in --set config.apis[0].spec=https://orders.internal/openapi.json" -}}
{{- end -}}
{{- $many := or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}
{{- if and $many (not (dig "server" "seal_keys" "" .Values.config)) -}}
{{- fail "several replicas need the same config.server.seal_keys: without them a session of one pod is unknown to the others" -}}
{{- end -}}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (dig "server" "trusted_proxies" "" .Values.config)) -}}
{{- fail "config.server.trusted_proxies is empty, and ingress or httpRoute puts a proxy before the pods: name the network of its pods, as in [10.4.0.0/16] (kubectl get pods -n INGRESS-NAMESPACE -o wide shows their addresses); without it all callers are one address and share its rate" -}}
{{- end -}}
{{- if hasKey .Values.files "drawbridge.yaml" -}}
{{- fail "files holds drawbridge.yaml, which is made of config" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is empty: name the Gateway" -}}
{{- end -}}
{{- end -}}

{{/* A digest of what changes with a restart only (the keys with reload:"restart" in package config, which a test compares). */}}
{{- define "drawbridge.restart" -}}
{{- $c := .Values.config -}}
{{- dict "server" (pick $c.server "listen" "tls" "old_transport" "state_dir") "admin" (pick $c.admin "listen") "limits" (pick ($c.limits | default dict) "max_header") "telemetry" (pick ($c.telemetry | default dict) "otlp_endpoint" "otlp_signals" "proxy" "log_format") "state" $c.state "audit" $c.audit | toJson | sha256sum -}}
{{- end -}}
