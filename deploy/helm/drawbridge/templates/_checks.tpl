{{/* Mistakes that values.schema.json can't express, all at once, each with its key. Called by configmap.yaml. */}}
{{- define "drawbridge.check" -}}
{{- $faults := concat
  (include "drawbridge.faults.release" . | fromJsonArray)
  (include "drawbridge.faults.pod" . | fromJsonArray)
  (include "drawbridge.faults.exposure" . | fromJsonArray)
  (include "drawbridge.faults.paths" . | fromJsonArray) -}}
{{- if $faults -}}
{{- fail (printf "the values can't be used:\n  - %s" (join "\n  - " $faults)) -}}
{{- end -}}
{{- end -}}

{{/* The image, where the configuration comes from, and what replicas share. */}}
{{- define "drawbridge.faults.release" -}}
{{- $faults := list -}}
{{- $v := .Values -}}
{{- $c := $v.config | default dict -}}
{{- if not $v.image.repository -}}
{{- $faults = append $faults "image.repository is not set: name the repository of your registry that holds the image, as in --set image.repository=registry.example.com/platform/drawbridge (make image builds the image, RELEASE.md says how to push it)" -}}
{{- else if regexMatch "[:@][^/]*$" $v.image.repository -}}
{{- $faults = append $faults (printf "image.repository is %q: write a tag to image.tag and a digest to image.digest" $v.image.repository) -}}
{{- end -}}
{{- if and $v.existingConfigMap $c -}}
{{- $faults = append $faults (printf "config and existingConfigMap (%q) are both given: the pods read one of them. Set config to null, or remove existingConfigMap" $v.existingConfigMap) -}}
{{- else if not (or $v.existingConfigMap $c) -}}
{{- $faults = append $faults "config is null, and existingConfigMap is empty: give one of them" -}}
{{- end -}}
{{- if and $v.existingConfigMap $v.files -}}
{{- $faults = append $faults (printf "files has no effect with existingConfigMap: add %s to that ConfigMap" (keys $v.files | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if hasKey $v.files "drawbridge.yaml" -}}
{{- $faults = append $faults "files holds drawbridge.yaml, which is made of config" -}}
{{- end -}}
{{- if and $c (not (or $c.apis $c.discovery)) -}}
{{- $faults = append $faults "config.apis is empty: name at least one OpenAPI document, as in --set config.apis[0].spec=https://orders.internal/openapi.json" -}}
{{- end -}}
{{- if and $c (include "drawbridge.many" .) -}}
{{- if dig "server" "seal_key_file" "" $c -}}
{{- $faults = append $faults "config.server.seal_key_file makes a key for each pod: several replicas need the same config.server.seal_keys, or a session of one pod is unknown to the others" -}}
{{- else if not (dig "server" "seal_keys" "" $c) -}}
{{- $faults = append $faults "config.server.seal_keys is not set: several replicas need the same config.server.seal_keys, or a session of one pod is unknown to the others" -}}
{{- end -}}
{{- if and $v.state.existingClaim (hasPrefix "/var/lib/drawbridge/" (dig "audit" "file" "" $c)) -}}
{{- $faults = append $faults "config.audit.file is in state.existingClaim, which all pods write to: leave it out, so that each pod writes to its standard output" -}}
{{- end -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) -}}
{{- $faults = append $faults (printf "autoscaling.minReplicas is %d, more than autoscaling.maxReplicas, %d" (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- toJson $faults -}}
{{- end -}}

{{/* Ports, times, memory, volumes and containers of the pod. */}}
{{- define "drawbridge.faults.pod" -}}
{{- $faults := list -}}
{{- $v := .Values -}}
{{- $c := $v.config | default dict -}}
{{- range ternary (list "server" "admin") list (not (empty $c)) -}}
{{- $address := dig . "listen" "" $c -}}
{{- if not (regexMatch ":[0-9]+$" $address) -}}
{{- $faults = append $faults (printf "config.%s.listen is %q: it needs a port, as in 0.0.0.0:8080" . $address) -}}
{{- else if regexMatch "^(127\\.|localhost:|\\[::1\\])" $address -}}
{{- $faults = append $faults (printf "config.%s.listen is %q, which nothing outside of the pod reaches: write 0.0.0.0 and the port" . $address) -}}
{{- end -}}
{{- end -}}
{{- $given := $v.terminationGracePeriodSeconds -}}
{{- $needed := include "drawbridge.ending" . | int -}}
{{- if and $given (lt (int $given) $needed) -}}
{{- $faults = append $faults (printf "terminationGracePeriodSeconds is %d, and config.server.shutdown_delay and drain_timeout with 15 s for what is written at the end are %d: calls would be cut" (int $given) $needed) -}}
{{- end -}}
{{- $memory := dig "limits" "memory" "" $v.resources | default "" | toString -}}
{{- if and $memory (gt (int $v.goMemoryPercent) 0) -}}
{{- if not (regexMatch "^[0-9]+(Ki|Mi|Gi|k|M|G)?$" $memory) -}}
{{- $faults = append $faults (printf "resources.limits.memory is %q: write whole numbers of Ki, Mi, Gi, k, M or G, as in 256Mi" $memory) -}}
{{- end -}}
{{- range $v.env -}}
{{- if eq .name "GOMEMLIMIT" -}}
{{- $faults = append $faults "env sets GOMEMLIMIT, which is made of resources.limits.memory: set goMemoryPercent to 0, or remove it" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $secrets := list -}}
{{- range $v.secrets -}}
{{- $volume := include "drawbridge.secretVolume" . -}}
{{- if has $volume $secrets -}}
{{- $faults = append $faults (printf "secrets: the volume of %s would be %s, which another one has: mount it by extraVolumes and extraVolumeMounts" . $volume) -}}
{{- end -}}
{{- $secrets = append $secrets $volume -}}
{{- end -}}
{{- $volumes := concat (list "config" "state") $secrets -}}
{{- range $v.extraVolumes -}}
{{- if has .name $volumes -}}
{{- $faults = append $faults (printf "extraVolumes has %q, a name that another volume of the pod has" .name) -}}
{{- end -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- range $v.extraVolumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- $faults = append $faults (printf "extraVolumeMounts has %q, which is no volume of the pod: add it to extraVolumes" .name) -}}
{{- end -}}
{{- if has (trimSuffix "/" .mountPath) (list "/etc/drawbridge" "/var/lib/drawbridge") -}}
{{- $faults = append $faults (printf "extraVolumeMounts mounts %q at %s, where the chart mounts a volume already" .name .mountPath) -}}
{{- end -}}
{{- end -}}
{{- $containers := list "drawbridge" -}}
{{- range $key := list "extraContainers" "extraInitContainers" -}}
{{- range get $v $key -}}
{{- if has .name $containers -}}
{{- $faults = append $faults (printf "%s has %q, a name that another container of the pod has" $key .name) -}}
{{- end -}}
{{- $containers = append $containers .name -}}
{{- end -}}
{{- end -}}
{{- $watches := include "drawbridge.watches" . | fromYaml -}}
{{- if and $watches.watches $v.rbac.create (not $v.serviceAccount.create) (not $v.serviceAccount.name) -}}
{{- $faults = append $faults "serviceAccount.create is false and serviceAccount.name is empty: the rights of config.discovery would go to the account default, which other pods have too. Name an account, or set rbac.create to false" -}}
{{- end -}}
{{- toJson $faults -}}
{{- end -}}

{{/* Ingress, HTTPRoute, Service and NetworkPolicy, and the URLs that clients use. */}}
{{- define "drawbridge.faults.exposure" -}}
{{- $faults := list -}}
{{- $v := .Values -}}
{{- $c := $v.config | default dict -}}
{{- $server := dig "server" dict $c -}}
{{- if and $c (or $v.ingress.enabled $v.httpRoute.enabled) (not $server.trusted_proxies) -}}
{{- $faults = append $faults "config.server.trusted_proxies is empty, and ingress or httpRoute puts a proxy before the pods: name the network of its pods, as in [10.4.0.0/16] (kubectl get pods -n INGRESS-NAMESPACE -o wide shows their addresses); without it all callers are one address and share its rate" -}}
{{- end -}}
{{- $key := ternary "config.server.public_urls" "config.server.public_url" (not (empty $server.public_urls)) -}}
{{- $urls := $server.public_urls | default (list ($server.public_url | default "")) -}}
{{- if and $server.allowed_hosts (not (or $server.public_urls $server.public_url)) -}}
{{- $key = "config.server.allowed_hosts" -}}
{{- $urls = list -}}
{{- end -}}
{{- $hosts := list -}}
{{- $schemes := list -}}
{{- $known := not (empty $c) -}}
{{- range $urls -}}
{{- $parts := regexFind "^https?://([^/:?#\\[\\]]+|\\[[^\\]]*\\])" (lower .) | splitn "://" 2 -}}
{{- if contains "${" . -}}
{{- $known = false -}}
{{- else if not $parts._1 -}}
{{- if $c -}}
{{- $faults = append $faults (printf "%s is %q: write the URL that clients use, as in https://mcp.example.com" $key .) -}}
{{- end -}}
{{- $known = false -}}
{{- else -}}
{{- $hosts = append $hosts $parts._1 -}}
{{- $schemes = append $schemes $parts._0 -}}
{{- end -}}
{{- end -}}
{{- $allowed := $hosts -}}
{{- range $server.allowed_hosts }}{{ $allowed = append $allowed (lower . | regexFind "^([^:]+|\\[.*\\])") }}{{ end -}}
{{- $exposed := list -}}
{{- if $v.ingress.enabled -}}
{{- $exposed = append $exposed (list "ingress.host" $v.ingress.host) -}}
{{- end -}}
{{- if $v.httpRoute.enabled -}}
{{- range $i, $host := $v.httpRoute.hostnames -}}
{{- $exposed = append $exposed (list (printf "httpRoute.hostnames[%d]" $i) $host) -}}
{{- end -}}
{{- end -}}
{{- if and $known $exposed -}}
{{- range $exposed -}}
{{- $host := lower (index . 1) -}}
{{- $served := has $host $allowed -}}
{{- if hasPrefix "*." $host -}}
{{- range $allowed -}}
{{- $served = or $served (eq (regexReplaceAll "^[^.]+" . "*") $host) -}}
{{- end -}}
{{- end -}}
{{- if not $served -}}
{{- $faults = append $faults (printf "%s is %q, and %s is for %s: requests for another host are refused. Use the same host, or add it to config.server.allowed_hosts" (index . 0) $host $key (join ", " ($hosts | default $allowed))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $known $v.ingress.enabled -}}
{{- $ends := or $v.ingress.tlsSecret $v.ingress.controllerCertificate -}}
{{- if and (has "https" $schemes) (not $ends) -}}
{{- $faults = append $faults (printf "ingress.tlsSecret is empty, and %s is https: name the Secret with the certificate, or set ingress.controllerCertificate to true if the controller has one" $key) -}}
{{- else if and $ends $schemes (not (has "https" $schemes)) -}}
{{- $faults = append $faults (printf "ingress.tlsSecret or ingress.controllerCertificate is set, and %s is http: write https" $key) -}}
{{- end -}}
{{- end -}}
{{- if and $v.ingress.tlsSecret $v.ingress.controllerCertificate -}}
{{- $faults = append $faults "ingress.tlsSecret and ingress.controllerCertificate are both set: the certificate is one of them" -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- $faults = append $faults "httpRoute.parentRefs is empty: name the Gateway" -}}
{{- end -}}
{{- if and $v.service.loadBalancerSourceRanges (ne $v.service.type "LoadBalancer") -}}
{{- $faults = append $faults (printf "service.loadBalancerSourceRanges has no effect: service.type is %s, not LoadBalancer" $v.service.type) -}}
{{- end -}}
{{- if and $v.service.externalTrafficPolicy (eq $v.service.type "ClusterIP") -}}
{{- $faults = append $faults "service.externalTrafficPolicy has no effect: service.type is ClusterIP" -}}
{{- end -}}
{{- if and (not $v.networkPolicy.enabled) (or $v.networkPolicy.from $v.networkPolicy.egress.extra $v.networkPolicy.egress.redis) -}}
{{- $faults = append $faults "networkPolicy.from and networkPolicy.egress have no effect: networkPolicy.enabled is false" -}}
{{- end -}}
{{- toJson $faults -}}
{{- end -}}

{{/* Each text below a key, as a line with a JSON array: its key and the text. Takes a list: the key, its value. */}}
{{- define "drawbridge.texts" -}}
{{- $key := index . 0 -}}
{{- $value := index . 1 -}}
{{- if kindIs "map" $value -}}
{{- range $name, $member := $value }}{{ include "drawbridge.texts" (list (printf "%s.%s" $key $name) $member) }}{{ end -}}
{{- else if kindIs "slice" $value -}}
{{- range $i, $item := $value }}{{ include "drawbridge.texts" (list (printf "%s[%d]" $key $i) $item) }}{{ end -}}
{{- else if kindIs "string" $value -}}
{{- printf "%s\n" (list $key $value | toJson) -}}
{{- end -}}
{{- end -}}

{{/* Whether the pod has a volume with a file: "true" or nothing. Takes a list: the context, the path. */}}
{{- define "drawbridge.mounted" -}}
{{- $v := (index . 0).Values -}}
{{- $path := index . 1 -}}
{{- $mounts := list "/var/lib/drawbridge" "/run/secrets/kubernetes.io" -}}
{{- if and $v.files (has (trimSuffix "/" $path) (list "/etc/drawbridge" "/etc/drawbridge/.")) }}{{ $mounts = append $mounts "/etc/drawbridge" }}{{ end -}}
{{- range $v.secrets }}{{ $mounts = append $mounts (printf "/run/secrets/%s" .) }}{{ end -}}
{{- range keys $v.files }}{{ $mounts = append $mounts (printf "/etc/drawbridge/%s" .) }}{{ end -}}
{{- range $v.extraVolumeMounts }}{{ $mounts = append $mounts (trimSuffix "/" .mountPath) }}{{ end -}}
{{- range $mounts }}{{ if or (eq $path .) (hasPrefix (printf "%s/" .) $path) }}true{{ break }}{{ end }}{{ end -}}
{{- end -}}

{{/* Files, folders and variables that config names and the pod does not have. */}}
{{- define "drawbridge.faults.paths" -}}
{{- $root := . -}}
{{- $faults := list -}}
{{- $v := .Values -}}
{{- $c := $v.config | default dict -}}
{{- $writable := list "/var/lib/drawbridge" -}}
{{- range $v.extraVolumeMounts }}{{ if not .readOnly }}{{ $writable = append $writable (trimSuffix "/" .mountPath) }}{{ end }}{{ end -}}
{{- range $key := list "server.state_dir" "server.seal_key_file" "audit.file" -}}
{{- $names := splitList "." $key -}}
{{- $path := dig (first $names) (last $names) "" $c -}}
{{- $ok := or (not $path) (contains "${" $path) -}}
{{- range $writable }}{{ $ok = or $ok (eq $path .) (hasPrefix (printf "%s/" .) $path) }}{{ end -}}
{{- if not $ok -}}
{{- $faults = append $faults (printf "config.%s is %q, and the container can't write there: use a path in /var/lib/drawbridge, or a volume of extraVolumes and extraVolumeMounts" $key $path) -}}
{{- end -}}
{{- end -}}
{{- if and $c $v.state.existingClaim (not (contains "/var/lib/drawbridge" (toJson $c))) -}}
{{- $faults = append $faults "state.existingClaim has no effect: set config.server.state_dir to /var/lib/drawbridge" -}}
{{- end -}}
{{- /* Besides those of every container, webhooks of clouds and of OpenTelemetry set some. */ -}}
{{- $set := "^(HOSTNAME|HOME|PATH|(KUBERNETES|AWS|AZURE|GOOGLE|OTEL)_.*)$" -}}
{{- $variables := list -}}
{{- range $v.env }}{{ $variables = append $variables .name }}{{ end -}}
{{- range include "drawbridge.texts" (list "config" $c) | trim | splitList "\n" | compact -}}
{{- $key := first (fromJsonArray .) -}}
{{- $text := last (fromJsonArray .) | replace "$$" "" -}}
{{- if hasPrefix "config.include[" $key }}{{ $text = regexReplaceAll "/[^/]*[*][^/]*$" $text "" }}{{ end -}}{{- /* the folder of a pattern */ -}}
{{- $paths := list -}}
{{- range regexFindAll "\\$\\{file:[^}]+\\}" $text -1 -}}
{{- $path := trimPrefix "${file:" . | trimSuffix "}" -}}
{{- if not (hasPrefix "/" $path) -}}
{{- $paths = append $paths (printf "/etc/drawbridge/%s" (trimPrefix "./" $path)) -}}
{{- else if regexMatch "^/(run/secrets|etc/drawbridge)/" $path -}}{{- /* another may be of a volume that a webhook adds */ -}}
{{- $paths = append $paths $path -}}
{{- end -}}
{{- end -}}
{{- if or (hasPrefix "/run/secrets/" $text) (hasPrefix "/etc/drawbridge/" $text) -}}
{{- $paths = append $paths $text -}}
{{- else if and (regexMatch "^config\\.(apis\\[[0-9]+\\]\\.(spec|overlays\\[[0-9]+\\])|tools\\.lock|prompts\\[[0-9]+\\]\\.file|include\\[[0-9]+\\]\\.files)$" $key) (not (regexMatch "://|\\$\\{" $text)) -}}
{{- $paths = append $paths (ternary $text (printf "/etc/drawbridge/%s" (trimPrefix "./" $text)) (hasPrefix "/" $text)) -}}
{{- end -}}
{{- range $paths -}}
{{- if and (not (regexMatch "[*$]" .)) (not (include "drawbridge.mounted" (list $root .))) -}}
{{- if hasPrefix "/run/secrets/" . -}}
{{- $faults = append $faults (printf "%s names %s: add %q to secrets, which mounts that Secret" $key . (index (splitList "/" .) 3)) -}}
{{- else -}}
{{- $faults = append $faults (printf "%s names %s, which the pod does not have: add it to files, or mount it by extraVolumes and extraVolumeMounts" $key .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $v.envFrom -}}
{{- range regexFindAll "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" $text -1 -}}
{{- $name := trimPrefix "${" . | trimSuffix "}" -}}
{{- if not (or (has $name $variables) (regexMatch $set $name)) -}}
{{- $faults = append $faults (printf "%s refers to the environment variable %s, which the container does not have: add it to env or envFrom" $key $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $faults -}}
{{- end -}}
