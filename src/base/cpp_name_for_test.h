#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tacho {

// A random name of a C++ function, in the form that one of the demanglers writes, and its parts.
class CppNameForTest {
 public:
  struct Part {
    std::string name;
    std::vector<std::string> arguments;
    bool operator==(const Part&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Part& part) {
      out << part.name;
      for (const std::string& argument : part.arguments) out << "\n    " << argument;
      return out << "\n";
    }
  };

  // `pick(n)`: a random number below n.
  explicit CppNameForTest(std::function<size_t(size_t)> pick) : pick_(std::move(pick)) {
    dialect_ = static_cast<Dialect>(pick_(3));
    const bool has_type = pick_(4) > 0;
    if (has_type) ReturnType();
    const size_t namespaces = pick_(3);
    for (size_t i = 0; i < namespaces; ++i) {
      if (pick_(4) == 0) {
        Anonymous();
      } else {
        TakePart(Word(), pick_(3) == 0);
      }
      text_ += "::";
    }
    if (pick_(5) == 0) {  // inside a lambda of a function
      TakePart(Word(), pick_(2) == 0);
      Parameters();
      text_ += pick_(2) == 0 ? "::" : " const::";
      const size_t begin = text_.size();
      Lambda();
      parts_.push_back({text_.substr(begin), {}});
      text_ += "::";
      TakePart(dialect_ == kNvidia ? "operator ()" : "operator()", pick_(2) == 0);
    } else {
      TakePart(pick_(8) == 0 ? Operator() : Word(), pick_(4) > 0);
    }
    Parameters();
    text_ += One({"", " const", " "});
    if (text_.back() == ' ') In("[]", [&] { text_ += "clone .kd"; });
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  // The parts of the innermost function in the name, in order, without anonymous namespaces.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  // Maps the index of each opening bracket to the index after its closing bracket.
  [[nodiscard]] const std::map<size_t, size_t>& ends() const { return ends_; }

 private:
  enum Dialect { kGnu, kLlvm, kNvidia };

  std::string One(std::vector<std::string_view> choices) {
    return std::string(choices[pick_(choices.size())]);
  }
  std::string Word() {
    return One(
        {"f", "kernel_2", "T", "Tile", "operators", "my_operator", "x64", "gemm", "lambda_"});
  }
  std::string Operator() {
    return One({"operator<", "operator>", "operator<<", "operator>>", "operator->", "operator<=",
                "operator<=>", "operator,", "operator[]", "operator+", "operator bool"});
  }

  void Open(char bracket) {
    open_.push_back(text_.size());
    text_ += bracket;
  }
  void Close(char bracket) {
    text_ += bracket;
    ends_[open_.back()] = text_.size();
    open_.pop_back();
  }
  template <typename Inside>
  void In(std::string_view brackets, const Inside& inside) {
    Open(brackets[0]);
    inside();
    Close(brackets[1]);
  }

  void TakePart(const std::string& name, bool has_arguments) {
    text_ += name;
    parts_.push_back({name, {}});
    if (!has_arguments || name == "operator bool") return;
    auto arguments = Arguments();
    parts_.back().arguments = std::move(arguments);
  }

  // Writes a list of template arguments with its brackets; returns the text of each.
  std::vector<std::string> Arguments() {
    std::vector<std::string> arguments;
    // GNU puts a space between "<" and "<", and between ">" and ">".
    if (text_.back() == '<') text_ += ' ';
    In("<>", [&] {
      for (size_t n = 1 + pick_(3); n > 0; --n) {
        const size_t begin = text_.size();
        Argument();
        arguments.push_back(text_.substr(begin));
        if (n > 1) text_ += ", ";
      }
      if (dialect_ == kGnu && text_.back() == '>') text_ += ' ';
    });
    return arguments;
  }

  void Argument() {
    ++depth_;
    const size_t kind = depth_ > 4 ? 0 : pick_(9);
    if (kind < 2) {
      text_ += One({"int", "float", "unsigned long", "__nv_bfloat16", "T1"});
    } else if (kind < 4) {
      Number();
    } else if (kind == 4) {
      Comparison();
    } else if (kind == 5) {
      text_ += "void ";
      In("()", [&] { text_ += One({"*", "&", "ns::X::*"}); });
      Parameters();
    } else if (kind == 6) {  // a lambda of a function
      Name();
      Parameters();
      text_ += "::";
      Lambda();
    } else {
      Name();
      text_ += dialect_ == kNvidia ? One({"", " *", " &"}) : One({"", "*", " const&"});
    }
    --depth_;
  }

  // A type or a template with its namespaces.
  void Name() {
    if (pick_(5) == 0) {
      Anonymous();
      text_ += "::";
    }
    text_ += One({"ns::", "", "at::native::"}) + One({"Tile", "Gemm", "X2", "tuple"});
    if (depth_ < 4 && pick_(2) == 0) {
      Arguments();
      if (pick_(3) == 0) text_ += "::type";
    }
  }

  void Anonymous() {
    if (dialect_ == kNvidia) {
      In("<>", [&] { text_ += "unnamed"; });
    } else {
      In("()", [&] { text_ += "anonymous namespace"; });
    }
  }

  void Lambda() {
    if (dialect_ == kGnu) {
      In("{}", [&] {
        text_ += "lambda";
        Parameters();
        text_ += "#1";
      });
    } else if (dialect_ == kLlvm) {
      text_ += "'lambda'";
      Parameters();
    } else {
      In("[]", [&] {
        text_ += "lambda";
        Parameters();
        text_ += ' ';
        In("()", [&] { text_ += "instance 1"; });
      });
    }
  }

  void Number() {
    const size_t cast = dialect_ == kNvidia ? 0 : pick_(2);
    if (cast == 0) In("()", [&] { text_ += One({"int", "ns::Kind", "unsigned long"}); });
    text_ += One({"0", "8", "128", "-1"});
  }

  // A comparison, as in a condition of std::enable_if.
  void Comparison() {
    const std::string sign = One({"<", ">", "<=", ">=", "==", "<<", ">>"});
    const auto trait = [&] {
      text_ += "ns::is";
      ++depth_;
      Arguments();
      --depth_;
      text_ += "::value";
    };
    if (dialect_ == kGnu) {  // brackets around each operand, and around a whole ">" comparison
      const auto compare = [&] {
        In("()", [&] { text_ += '8'; });
        text_ += sign;
        In("()", [&] { text_ += "-1"; });
      };
      if (sign == ">") {
        In("()", compare);
      } else {
        compare();
      }
    } else if (dialect_ == kLlvm) {
      const auto compare = [&] { text_ += "8 " + sign + " 0"; };
      if (sign[0] == '>') {
        In("()", compare);
      } else {
        compare();
      }
    } else {
      const size_t operand = pick_(3);
      if (operand == 0) {
        text_ += "T2";
      } else if (operand == 1) {
        text_ += "sizeof";
        In("()", [&] { text_ += "T1"; });
      } else {
        trait();
      }
      text_ += sign;
      if (pick_(2) == 0) {
        In("()", [&] { text_ += "int"; });
        text_ += '0';
      } else {
        text_ += "T3";
      }
    }
    if (pick_(2) == 0) {
      text_ += dialect_ == kLlvm ? " && " : "&&";
      trait();
    }
  }

  void ReturnType() {
    if (pick_(2) == 0) {
      text_ += "void ";
      return;
    }
    text_ += "std::enable_if";
    In("<>", [&] {
      if (pick_(4) == 0) text_ += '!';
      Comparison();
      text_ += ", void";
    });
    text_ += "::type ";
  }

  void Parameters() {
    In("()", [&] {
      for (size_t n = pick_(3); n > 0; --n) {
        ++depth_;
        if (depth_ > 3 || pick_(2) == 0) {
          text_ += One({"int", "T1", "float*"});
        } else {
          Name();
        }
        --depth_;
        if (n > 1) text_ += ", ";
      }
    });
  }

  const std::function<size_t(size_t)> pick_;
  Dialect dialect_;
  size_t depth_ = 0;
  std::string text_;
  std::vector<size_t> open_;
  std::map<size_t, size_t> ends_;
  std::vector<Part> parts_;
};

}  // namespace tacho
