/** Shows the type of an array's items before their schema is resolved: `array<Order>`, not `array<any>`. */
export default {
  wrapComponents: {
    withJSONSchema202012SystemContext(original, { fn }) {
      function getType(schema, ...rest) {
        const name = schema?.items?.$ref?.split('/').at(-1);
        return name ? `array<${name}>` : fn.jsonSchema202012.getType(schema, ...rest);
      }
      return (Component, overrides) => original(Component, { ...overrides, fn: { ...overrides.fn, getType } });
    },
  },
};
