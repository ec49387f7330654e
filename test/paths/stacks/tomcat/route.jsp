<%@ page contentType="text/plain; charset=UTF-8" trimDirectiveWhitespaces="true" import="java.net.URLEncoder" %><%
// The path as servlets get it: decoded, without path parameters, normalized.
String path = request.getServletPath() + (request.getPathInfo() == null ? "" : request.getPathInfo());
if (path.startsWith("/v1/orders/") && !path.matches("/v1/orders/[^/]+/refund")) {
  out.print("route=orders\nvalue=" + URLEncoder.encode(path.substring(11), "UTF-8") + "\n");
} else if (path.startsWith("/v1/files/") && !path.endsWith("/restore")) {
  out.print("route=files\nvalue=" + URLEncoder.encode(path.substring(10), "UTF-8") + "\n");
} else if (path.equals("/v1/search")) {
  String[] all = request.getParameterValues("q");
  String ref = request.getHeader("X-Ref");
  out.print("route=search\nvalue=" + (all == null || all.length != 1 || request.getParameterMap().size() != 1 ? "several" : URLEncoder.encode(all[0], "UTF-8")) + "\nref=" + (ref == null ? "" : ref) + "\n");
} else {
  out.print("route=foreign " + path + "\n");
}
%>
