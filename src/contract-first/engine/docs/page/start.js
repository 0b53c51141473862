/** Starts Swagger UI with our plugins. */
import accessible from './accessible.js';
import arrayTypes from './array-types.js';
import deprecationNotice from './deprecation-notice.js';
import exactExamples from './exact-examples.js';
import exactReplies from './exact-replies.js';
import otherServers from './other-servers.js';
import problems from './problems.js';
import rememberKey from './remember-key.js';
import replies from './replies.js';
import requests from './requests.js';
import './screen.js';

SwaggerUIBundle({
  url: new URL('../../openapi.json', import.meta.url).href,
  dom_id: '#swagger-ui',
  layout: 'BaseLayout',
  deepLinking: true,
  displayOperationId: true,
  showExtensions: false,
  showCommonExtensions: true,
  validatorUrl: null,
  plugins: [
    accessible,
    arrayTypes,
    deprecationNotice,
    exactExamples,
    exactReplies,
    otherServers,
    problems,
    rememberKey,
    replies,
    requests,
  ],
});
