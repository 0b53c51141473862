/** Every operation says what it answers when it has done what was asked: a `default` stands for errors. */
export default function successResponses() {
  return {
    Operation({ operationId, responses }, { location, report }) {
      if (Object.keys(responses ?? {}).some((status) => /^[23]/.test(status))) return;
      const message = `The operation ${operationId} must have a response of success, such as 200.`;
      report({ message, location: location.child('responses').key() });
    },
  };
}
