// The reactions this page offers; any other name is shown as it is written.
// A Map keeps this order; an object would put "100" first.
export const REACTIONS = new Map([
  ["+1", "👍"], ["eyes", "👀"], ["white_check_mark", "✅"], ["tada", "🎉"], ["heart", "❤️"], ["raised_hands", "🙌"],
  ["thinking_face", "🤔"], ["-1", "👎"], ["joy", "😂"], ["pray", "🙏"], ["rocket", "🚀"], ["fire", "🔥"],
  ["bookmark", "🔖"], ["bulb", "💡"], ["bug", "🐛"], ["question", "❓"], ["warning", "⚠️"], ["100", "💯"],
]);

export const glyph = (name) => REACTIONS.get(name) ?? `:${name}:`;
