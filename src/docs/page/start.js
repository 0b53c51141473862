/** Starts Swagger UI, with what is added to it. */
import deprecationNotice from './deprecation-notice.js';
import exactExamples from './exact-examples.js';
import exactReplies from './exact-replies.js';
import otherServers from './other-servers.js';
import rememberKey from './remember-key.js';
import './screen.js';

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  layout: 'BaseLayout',
  deepLinking: true,
  displayOperationId: true,
  showExtensions: true,
  showCommonExtensions: true,
  validatorUrl: null,
  plugins: [deprecationNotice, exactExamples, exactReplies, otherServers, rememberKey],
});
